//! A wallpaper of one colour: one pixel, which the compositor stretches over the output.

use std::sync::Arc;
use veil_frame::{Backing, Picture, Presentable, Rgb, Size, Target, TargetPlan, presentable::Released};
use veil_wayland::{MemoryError, SharedMemory};

/// One pixel of this colour.
pub(crate) fn plain(color: Rgb) -> Result<Presentable, MemoryError> {
    const LEN: usize = 4;
    let size = Size::new(1, 1);
    let mut memory = SharedMemory::new(LEN)?;
    // XRGB8888, little endian (drm_fourcc.h).
    memory
        .bytes_mut()
        .copy_from_slice(&[color.b, color.g, color.r, 0xff]);
    let fd = memory
        .share()
        .map_err(|source| MemoryError { len: LEN, source })?;
    let target = Target::new(
        Backing::Shm { fd, len: LEN },
        size,
        LEN as u32,
        drm_fourcc::DrmFourcc::Xrgb8888,
        Arc::new(Released::default()),
    );
    Ok(Presentable {
        target: target.share(),
        plan: TargetPlan::whole(Picture::plain(size)),
        sequence: 0,
        labels: None,
    })
}
