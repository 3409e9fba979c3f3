//! What the sink knows of those who show its pictures: what they can do, and where a picture is handed over.
//!
//! The sink's target is only this trait. The daemon's loop implements it for a wallpaper on many outputs; a window of
//! the sink's own would implement it just so.

use crate::mailbox::{Mailbox, Submitted};
use calloop::ping::Ping;
use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};
use veil_frame::{Demand, DmabufSupport, Presentable};

/// What the surfaces that show one stream can do and need, at one moment. Never changed in place: whatever changes
/// makes a new one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// Tells this snapshot from all others of the same presenter. Equal generations have equal contents.
    pub generation: u64,
    /// Who shows the picture, in which mode and at how many pixels. Empty: nobody; then nothing is converted.
    pub demand: Demand,
    /// What all these surfaces take in dmabufs; `None`: nothing.
    pub dmabuf: Option<DmabufSupport>,
}

impl Capabilities {
    /// Whether nobody sees the picture.
    pub fn is_unseen(&self) -> bool {
        self.demand.uses.iter().all(|(_, output)| output.is_empty())
    }
}

/// Shows pictures.
///
/// Both functions are called for every frame on a streaming thread, with a lock of the sink's held: they must return
/// quickly, must not allocate, and must not call the sink.
pub trait Presenter: fmt::Debug + Send + Sync {
    /// The present snapshot. A frame is planned anew only when `generation` is another than for the frame before.
    fn capabilities(&self) -> Arc<Capabilities>;

    /// Takes a picture whose time has come, and wakes whoever will show it.
    fn submit(&self, presentable: Presentable) -> Submitted;
}

/// Holds the present [`Capabilities`] of a presenter; written by its loop, read by streaming threads.
#[derive(Debug, Default)]
pub struct SharedCapabilities(Mutex<Arc<Capabilities>>);

impl SharedCapabilities {
    /// With this demand and no dmabufs, as generation 0.
    pub fn new(demand: Demand) -> Self {
        Self(Mutex::new(Arc::new(Capabilities {
            generation: 0,
            demand,
            dmabuf: None,
        })))
    }

    /// The present snapshot.
    pub fn get(&self) -> Arc<Capabilities> {
        Arc::clone(&self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// As [`Self::set`], with the dmabufs of before.
    pub fn set_demand(&self, demand: Demand) -> bool {
        let dmabuf = self.get().dmabuf.clone();
        self.set(demand, dmabuf)
    }

    /// Replaces the snapshot if anything is another than before; true if so. Afterwards
    /// [`VeilSink::redraw`](crate::VeilSink::redraw) gives a paused stream's picture at the new size.
    pub fn set(&self, demand: Demand, dmabuf: Option<DmabufSupport>) -> bool {
        let mut current = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if current.demand == demand && current.dmabuf == dmabuf {
            return false;
        }
        *current = Arc::new(Capabilities {
            generation: current.generation + 1,
            demand,
            dmabuf,
        });
        true
    }
}

/// An event loop that shows pictures, as the sink's streaming thread sees it: it takes the newest from the mailbox when
/// it is woken.
pub struct LoopPresenter {
    /// Where pictures are handed over.
    pub mailbox: Mailbox,
    /// What the loop's surfaces can do and need.
    pub capabilities: SharedCapabilities,
    ping: Ping,
}

impl LoopPresenter {
    /// For a loop that `ping` wakes.
    pub fn new(demand: Demand, ping: Ping) -> Arc<Self> {
        Arc::new(Self {
            mailbox: Mailbox::new(),
            capabilities: SharedCapabilities::new(demand),
            ping,
        })
    }
}

impl fmt::Debug for LoopPresenter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoopPresenter").finish_non_exhaustive()
    }
}

impl Presenter for LoopPresenter {
    fn capabilities(&self) -> Arc<Capabilities> {
        self.capabilities.get()
    }

    fn submit(&self, presentable: Presentable) -> Submitted {
        let submitted = self.mailbox.put(presentable);
        if submitted == Submitted::Queued {
            self.ping.ping();
        }
        submitted
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use veil_frame::{FitMode, Size};

    #[test]
    fn only_a_change_makes_a_new_generation() {
        let hd = Demand {
            uses: vec![(FitMode::Fill, Size::new(1920, 1080))],
        };
        let shared = SharedCapabilities::default();
        let before = shared.get();
        assert!(shared.set(hd.clone(), None) && !shared.set(hd.clone(), None));
        let after = shared.get();
        assert_eq!((before.generation, after.generation), (0, 1));
        assert!(before.demand.uses.is_empty() && after.demand == hd);
        let support = Some(DmabufSupport::default());
        assert!(shared.set(hd.clone(), support.clone()) && !shared.set(hd, support));
    }
}
