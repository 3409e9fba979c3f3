//! A private copy of a picture.
//!
//! A surface that stands still while others go on would keep a target of the shared ring for ever. So an output that is
//! paused alone gets the picture that it shows in memory of its own.

use std::{fs::File, io, os::unix::fs::FileExt, sync::Arc};
use veil_frame::{Backing, Presentable, Target, presentable::Released};
use veil_wayland::SharedMemory;

/// Copies what is shown into memory of its own.
pub(crate) fn private_copy(shown: &Presentable) -> io::Result<Presentable> {
    let target = shown.target.target();
    // A device's memory cannot simply be read. Its ring is the shorter by one then, for as long as the output stands still.
    let Backing::Shm { fd, len } = &target.backing else {
        return Ok(shown.clone());
    };
    let mut memory = SharedMemory::new(*len).map_err(io::Error::other)?;
    File::from(fd.try_clone()?).read_exact_at(memory.bytes_mut(), 0)?;
    let backing = Backing::Shm {
        fd: memory.share()?,
        len: *len,
    };
    let copy = Target::new(
        backing,
        target.size,
        target.stride,
        target.fourcc,
        Arc::new(Released::default()),
    );
    let target = copy
        .try_take()
        .ok_or_else(|| io::Error::other("a new target is in use"))?;
    Ok(Presentable {
        target,
        ..shown.clone()
    })
}
