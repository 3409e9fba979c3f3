//! `zwp_linux_dmabuf_feedback_v1`: which pairs of format and modifier a surface takes, and of which device.
//!
//! The compositor sends a table of pairs as a file, and then tranches, the best first, whose pairs are indices into it. Only
//! these count; the table may list more. A set of tranches ends with `done` and replaces the one before; the table is sent
//! again only when it has changed.

use super::pair;
use crate::{desktop::Desktop, surface::SurfaceId};
use drm_fourcc::DrmFormat;
use smithay_client_toolkit::dispatch2::Dispatch2;
use std::{
    fs::File,
    io,
    os::{fd::OwnedFd, unix::fs::FileExt},
    sync::{Mutex, PoisonError},
};
use wayland_client::{Connection, QueueHandle};
use wayland_protocols::wp::linux_dmabuf::zv1::client::zwp_linux_dmabuf_feedback_v1::{
    self, ZwpLinuxDmabufFeedbackV1,
};

/// Bytes of an entry of the table: the format, four bytes of padding, and the modifier, in the machine's order.
const ENTRY: usize = 16;
/// More than any table has: indices are of 16 bits.
const MOST: usize = ENTRY << 16;

/// What a feedback object has told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Feedback {
    /// The main device (`dev_t`).
    pub(crate) device: Option<u64>,
    /// The pairs of all tranches, best first, none twice.
    pub(crate) formats: Vec<DrmFormat>,
}

#[derive(Debug, Default)]
struct Pending {
    table: Vec<Option<DrmFormat>>,
    told: Feedback,
}

/// Whose feedback an object tells: a surface's, or everybody's.
#[derive(Debug, Default)]
pub(crate) struct FeedbackOf {
    surface: Option<SurfaceId>,
    pending: Mutex<Pending>,
}

impl FeedbackOf {
    pub(crate) fn surface(id: SurfaceId) -> Self {
        Self {
            surface: Some(id),
            pending: Mutex::default(),
        }
    }
}

/// Reads the table of pairs.
fn read_table(fd: OwnedFd, size: u32) -> io::Result<Vec<Option<DrmFormat>>> {
    let size = (size as usize).min(MOST);
    let mut bytes = vec![0; size - size % ENTRY];
    File::from(fd).read_exact_at(&mut bytes, 0)?;
    let entries = bytes.as_chunks::<ENTRY>().0.iter();
    Ok(entries
        .map(|entry| {
            let [a, b, c, d, _, _, _, _, modifier @ ..] = *entry;
            pair(u32::from_ne_bytes([a, b, c, d]), u64::from_ne_bytes(modifier))
        })
        .collect())
}

/// A `dev_t`, as the compositor's C library has it.
fn device(bytes: &[u8]) -> Option<u64> {
    match bytes.len() {
        8 => bytes.try_into().ok().map(u64::from_ne_bytes),
        4 => bytes.try_into().ok().map(u32::from_ne_bytes).map(u64::from),
        _ => None,
    }
}

impl Dispatch2<ZwpLinuxDmabufFeedbackV1, Desktop> for FeedbackOf {
    fn event(
        &self,
        desktop: &mut Desktop,
        _: &ZwpLinuxDmabufFeedbackV1,
        event: zwp_linux_dmabuf_feedback_v1::Event,
        _: &Connection,
        _: &QueueHandle<Desktop>,
    ) {
        use zwp_linux_dmabuf_feedback_v1::Event;
        let mut pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            Event::FormatTable { fd, size } => match read_table(fd, size) {
                Ok(table) => pending.table = table,
                Err(error) => {
                    tracing::warn!("the compositor's table of dmabuf formats cannot be read: {error}");
                    // Indices into another table mean other pairs.
                    pending.table = Vec::new();
                }
            },
            Event::MainDevice { device: bytes } => pending.told.device = device(&bytes),
            Event::TrancheFormats { indices } => {
                let Pending { table, told } = &mut *pending;
                for index in indices.as_chunks::<2>().0 {
                    let index = usize::from(u16::from_ne_bytes(*index));
                    if let Some(pair) = table.get(index).copied().flatten()
                        && !told.formats.contains(&pair)
                    {
                        told.formats.push(pair);
                    }
                }
            }
            Event::Done => {
                let told = std::mem::take(&mut pending.told);
                drop(pending);
                desktop.feedback(self.surface, told);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use drm_fourcc::{DrmFourcc, DrmModifier};
    use std::io::Write;

    fn file(entries: &[(u32, u64)]) -> OwnedFd {
        let fd = rustix::fs::memfd_create(c"table", rustix::fs::MemfdFlags::CLOEXEC).unwrap();
        let mut file = File::from(fd);
        for (format, modifier) in entries {
            file.write_all(&format.to_ne_bytes()).unwrap();
            file.write_all(&[0xff; 4]).unwrap();
            file.write_all(&modifier.to_ne_bytes()).unwrap();
        }
        file.into()
    }

    #[test]
    fn tables_keep_their_order_and_leave_out_what_cannot_be_used() {
        let nv12 = DrmFourcc::Nv12 as u32;
        let entries = [
            (nv12, u64::from(DrmModifier::Invalid)),
            (nv12, 0),
            (0x1234_5678, 0),
            (nv12, 7),
        ];
        let table = read_table(file(&entries), 64).unwrap();
        let modifiers: Vec<_> = table
            .iter()
            .map(|pair| pair.map(|pair| u64::from(pair.modifier)))
            .collect();
        assert_eq!(modifiers, [None, Some(0), None, Some(7)]);
        // A part of an entry at the end is none.
        assert_eq!(read_table(file(&entries), 63).unwrap().len(), 3);
        assert!(
            read_table(file(&entries[..1]), 64).is_err(),
            "a file that is too short"
        );
        assert!(read_table(file(&[]), 0).unwrap().is_empty());
    }

    #[test]
    fn devices_are_numbers_of_either_size() {
        assert_eq!(device(&0xe280u64.to_ne_bytes()), Some(0xe280));
        assert_eq!(device(&0xe280u32.to_ne_bytes()), Some(0xe280));
        assert_eq!(device(&[1, 2, 3]), None);
    }
}
