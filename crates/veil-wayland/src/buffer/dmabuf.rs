//! Buffers in dmabufs: `zwp_linux_buffer_params_v1`.

use super::{BufferError, InFlight, int};
use crate::{
    desktop::Desktop,
    dmabuf::{Dmabufs, Wanted},
    surface::SurfaceId,
};
use std::os::fd::AsFd;
use veil_frame::Dmabuf;
use wayland_client::{QueueHandle, protocol::wl_buffer::WlBuffer};
use wayland_protocols::wp::linux_dmabuf::zv1::client::zwp_linux_buffer_params_v1::Flags;

/// Asks for a buffer. `None`: the compositor's answer is still to come, since this pair was never tried.
pub(super) fn create(
    dmabufs: &Dmabufs,
    qh: &QueueHandle<Desktop>,
    surface: SurfaceId,
    target: u64,
    dmabuf: &Dmabuf,
) -> Result<Option<WlBuffer>, BufferError> {
    let (w, h) = (int(dmabuf.size.w.into())?, int(dmabuf.size.h.into())?);
    let format = dmabuf.format;
    let wanted = Wanted {
        surface,
        target,
        format,
    };
    let params = dmabufs.params(qh, wanted).ok_or(BufferError::NoDmabuf)?;
    let modifier = u64::from(format.modifier);
    for (index, plane) in (0..).zip(&dmabuf.planes) {
        let (high, low) = ((modifier >> 32) as u32, modifier as u32);
        params.add(plane.fd.as_fd(), index, plane.offset, plane.stride, high, low);
    }
    let code = format.code as u32;
    if !dmabufs.is_proven(format) {
        params.create(w, h, code, Flags::empty());
        return Ok(None);
    }
    let buffer = params.create_immed(w, h, code, Flags::empty(), qh, InFlight::default());
    params.destroy();
    Ok(Some(buffer))
}
