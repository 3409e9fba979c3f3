//! A frame's work: recorded, submitted once, and fenced.
//!
//! A [`Recorder`] has a few slots, each with a command buffer that is recorded anew for every frame, and semaphores that
//! are used again. Nothing is made for a frame. The work waits for what the fences in the source's and the target's
//! dmabufs say, and its own fence goes into both: decoders that honour it do not overwrite what is still read, compositors
//! wait until the target is drawn.
//!
//! Source and target belong to others between frames. So each frame begins by taking them over from a foreign queue
//! family and ends by handing them back. A source is never taken over with the layout UNDEFINED: that would allow the
//! driver to forget what the decoder wrote. Waits and barriers name the compute stage on both sides, so that the
//! barriers come after the waits.

mod barriers;
mod slot;

use crate::{device::Device, import::PlaneImages, sync::SyncSupport, target::TargetImage};
use ash::vk;
use barriers::Barriers;
use slot::{CommandPool, Slot, WAITS};
use std::{
    io,
    os::fd::{BorrowedFd, OwnedFd},
    sync::Arc,
    time::Duration,
};
use veil_dmabuf::fence::{self, Use};

/// How long others may take: a decoder with its frame, a compositor with its screen, the device with a frame.
const LIMIT: Duration = Duration::from_secs(2);

/// A frame could not be submitted, or its end is not known.
#[derive(Debug, thiserror::Error)]
pub enum SubmitError {
    /// Vulkan refused something.
    #[error("Vulkan refused {what}: {error}")]
    Vulkan {
        /// What.
        what: &'static str,
        /// Why.
        error: vk::Result,
    },
    /// A fence could not be had or given.
    #[error("the fence of {what} cannot be shared: {error}")]
    Fence {
        /// Whose.
        what: &'static str,
        /// Why.
        error: io::Error,
    },
    /// Somebody takes too long.
    #[error("{0} was not ready after two seconds")]
    Late(&'static str),
}

fn refused(what: &'static str) -> impl Fn(vk::Result) -> SubmitError {
    move |error| SubmitError::Vulkan { what, error }
}

fn unshared(what: &'static str) -> impl Fn(io::Error) -> SubmitError {
    move |error| SubmitError::Fence { what, error }
}

/// What a frame is read from.
#[derive(Clone, Copy)]
pub enum Source<'a> {
    /// Somebody else's memory.
    Dmabuf(&'a Arc<PlaneImages>),
    /// Images of this device, which the recorded work itself fills.
    Device,
}

impl<'a> Source<'a> {
    fn planes(self) -> Option<&'a Arc<PlaneImages>> {
        match self {
            Self::Dmabuf(planes) => Some(planes),
            Self::Device => None,
        }
    }
}

/// A frame on its way.
#[derive(Debug)]
pub struct Submitted {
    /// Its number: one more than the last one's.
    pub serial: u64,
    /// A sync file that signals when the target is drawn; `None` if it is.
    pub fence: Option<OwnedFd>,
}

/// Submits the frames of one stream.
pub struct Recorder {
    device: Arc<Device>,
    slots: Vec<Slot>,
    pool: Option<CommandPool>,
    next: usize,
    serial: u64,
    support: SyncSupport,
}

impl Recorder {
    /// With `slots` frames in flight at most; at least one.
    ///
    /// # Errors
    /// Where memory has run out.
    pub fn new(device: &Arc<Device>, slots: usize) -> Result<Self, SubmitError> {
        Self::with(device, slots, SyncSupport::of(device))
    }

    fn with(device: &Arc<Device>, slots: usize, support: SyncSupport) -> Result<Self, SubmitError> {
        let pool = CommandPool::new(device).map_err(refused("a command pool"))?;
        let made: Result<_, _> = (0..slots.max(1))
            .map(|_| Slot::new(device, &pool, support.export))
            .collect();
        Ok(Self {
            device: Arc::clone(device),
            slots: made.map_err(refused("a slot for frames"))?,
            pool: Some(pool),
            next: 0,
            serial: 0,
            support,
        })
    }

    /// Frames in flight at most.
    pub fn slots(&self) -> usize {
        self.slots.len()
    }

    /// The device.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// The slot of the next frame, once its last one has finished: for whoever fills buffers of the slot first.
    ///
    /// # Errors
    /// Where that takes longer than two seconds, or the device was lost.
    pub fn next_slot(&mut self) -> Result<usize, SubmitError> {
        self.slots[self.next].finish(LIMIT, self.support.export)?;
        Ok(self.next)
    }

    /// Submits a frame. `record` puts the conversion into the command buffer: it may read the source and write the
    /// target, both in the layout GENERAL, in compute shaders. Its second argument is the slot's index: what was recorded
    /// with the same index before has finished. What the frame needs of source and target is held until then.
    ///
    /// Waits, at most two seconds each: for the slot's last frame, and for fences where the device cannot.
    ///
    /// # Errors
    /// [`SubmitError`] says what went wrong. [`Device::lost`] tells whether everything has to be made anew.
    pub fn frame(
        &mut self,
        source: Source<'_>,
        target: &Arc<TargetImage>,
        record: impl FnOnce(vk::CommandBuffer, usize),
    ) -> Result<Submitted, SubmitError> {
        let index = self.next;
        let slot = &mut self.slots[index];
        slot.finish(LIMIT, self.support.export)?;
        let waits = slot.gather(source.planes(), target, self.support.import)?;
        let barriers = Barriers::new(&self.device, source.planes(), target);
        slot.record(|commands| {
            barriers.acquire(&self.device, commands);
            record(commands, index);
            barriers.release(&self.device, commands);
        })
        .map_err(refused("recording"))?;
        self.serial += 1;
        slot.submit(waits, self.serial, source.planes(), target)
            .map_err(refused("a frame"))?;
        target.set_drawn();
        self.next = (index + 1) % self.slots.len();
        let fence = self.publish(index, source.planes(), target)?;
        Ok(Submitted {
            serial: self.serial,
            fence,
        })
    }

    /// Puts the frame's fence into the dmabufs, or waits for its end where that is not possible.
    fn publish(
        &mut self,
        index: usize,
        source: Option<&Arc<PlaneImages>>,
        target: &TargetImage,
    ) -> Result<Option<OwnedFd>, SubmitError> {
        let slot = &mut self.slots[index];
        let file = match slot.export_signal() {
            Some(Ok(Some(file))) => file,
            Some(Ok(None)) => return Ok(None),
            _ => {
                slot.finish(LIMIT, self.support.export)?;
                return Ok(None);
            }
        };
        let mut known = true;
        if let Some(dmabuf) = target.fd() {
            known &= fence::import(dmabuf, Use::Write, &file).map_err(unshared("a target"))?;
        }
        for dmabuf in source.iter().flat_map(|planes| planes.dmabufs()) {
            known &= fence::import(dmabuf, Use::Read, &file).map_err(unshared("a source"))?;
        }
        if !known {
            slot.finish(LIMIT, self.support.export)?;
            return Ok(None);
        }
        Ok(Some(file))
    }

    /// Whether a frame has finished, so that its source may be given back.
    ///
    /// # Errors
    /// Where the device was lost.
    pub fn finished(&mut self, serial: u64) -> Result<bool, SubmitError> {
        self.wait(serial, Duration::ZERO)
    }

    /// Waits for a frame's end; false if `limit` is over before.
    ///
    /// # Errors
    /// Where the device was lost.
    pub fn wait(&mut self, serial: u64, limit: Duration) -> Result<bool, SubmitError> {
        let Some(slot) = self.slots.iter_mut().find(|slot| slot.serial() == serial) else {
            // Another frame has its slot, which had to wait for it.
            return Ok(true);
        };
        match slot.finish(limit, self.support.export) {
            Ok(()) => Ok(true),
            Err(SubmitError::Late(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Waits for all frames, at most two seconds each. Sources and targets are let go.
    ///
    /// # Errors
    /// Where that takes longer, or the device was lost.
    pub fn finish_all(&mut self) -> Result<(), SubmitError> {
        for slot in &mut self.slots {
            slot.finish(LIMIT, self.support.export)?;
        }
        Ok(())
    }

    /// Ends all frames, and no other comes. False if the device still works on one: then nothing that it uses may be
    /// freed, ever.
    pub(crate) fn end(&mut self) -> bool {
        // Tried again where the wait itself was refused. A lost device finishes nothing, and says so at once.
        let ended = (0..2).any(|_| self.finish_all().is_ok()) || self.device.lost();
        if !ended {
            tracing::error!(
                "frames on {} do not end; their memory is not given back",
                self.device.info().name
            );
            std::mem::forget(std::mem::take(&mut self.slots));
            std::mem::forget(self.pool.take());
        }
        ended
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.end();
    }
}

/// Waits for a fence, or lets the work wait for it by the semaphore that `import` puts it into, if it does.
fn wait_for(
    what: &'static str,
    dmabuf: BorrowedFd<'_>,
    before: Use,
    import: &mut impl FnMut(OwnedFd) -> Result<Option<OwnedFd>, vk::Result>,
) -> Result<(), SubmitError> {
    let done = match fence::export(dmabuf, before).map_err(unshared(what))? {
        Some(file) => {
            // Most have signalled when a frame comes: then no semaphore is needed.
            fence::has_signalled(&file).map_err(unshared(what))?
                || match import(file).map_err(refused("a fence"))? {
                    None => true,
                    Some(file) => fence::wait(&file, LIMIT).map_err(unshared(what))?,
                }
        }
        None => fence::wait_until_usable(dmabuf, before, LIMIT).map_err(unshared(what))?,
    };
    if done {
        Ok(())
    } else {
        Err(SubmitError::Late(what))
    }
}

/// All that one frame may wait for: the dmabufs of each plane, and the target's.
const _: () = assert!(WAITS == 4 + 1);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::DeviceChoice;
    use drm_fourcc::{DrmFourcc, DrmModifier};
    use veil_frame::Size;

    /// Frames without work, by all kinds of devices.
    #[test]
    #[ignore = "needs the test machine"]
    fn whatever_a_device_does_with_sync_files_frames_end() {
        let device = Device::open(&DeviceChoice::Named("lavapipe".into())).unwrap();
        let size = Size::new(64, 64);
        let target = TargetImage::new(&device, size, DrmFourcc::Xbgr8888, &[DrmModifier::Linear]);
        let target = Arc::new(target.unwrap());
        for import in [false, true] {
            for export in [false, true] {
                let support = SyncSupport { import, export };
                let mut recorder = Recorder::with(&device, 2, support).unwrap();
                for serial in 1..=5 {
                    let frame = recorder.frame(Source::Device, &target, |_, _| {}).unwrap();
                    assert_eq!(frame.serial, serial);
                    // Whoever waits for its fence waits for the frame.
                    if let Some(file) = frame.fence {
                        assert!(support.export);
                        let limit = Duration::from_secs(120);
                        assert!(fence::wait(file, limit).unwrap());
                    }
                    assert!(recorder.finished(serial).unwrap(), "{support:?}");
                }
            }
        }
        drop((target, device));
        assert_eq!(crate::instance::validation_messages(), 0);
    }
}
