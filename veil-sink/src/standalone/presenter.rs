//! The loop as the sink's streaming thread sees it.

use super::statistics::Statistics;
use crate::{Capabilities, Mailbox, Presenter, SharedCapabilities, Submitted};
use calloop::ping::Ping;
use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};
use veil_frame::{Demand, Presentable};

pub(super) struct LoopPresenter {
    pub(super) mailbox: Mailbox,
    pub(super) capabilities: SharedCapabilities,
    pub(super) statistics: Statistics,
    ping: Ping,
    lost: AtomicBool,
}

impl LoopPresenter {
    pub(super) fn new(demand: Demand, ping: Ping) -> Self {
        Self {
            mailbox: Mailbox::new(),
            capabilities: SharedCapabilities::new(demand),
            statistics: Statistics::default(),
            ping,
            lost: AtomicBool::new(false),
        }
    }

    /// Nothing can be shown any more. False if that was known.
    pub(super) fn lose(&self) -> bool {
        !self.lost.swap(true, Ordering::AcqRel)
    }

    pub(super) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Acquire)
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
