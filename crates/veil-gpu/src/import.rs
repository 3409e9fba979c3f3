//! Images of a decoder's planes.
//!
//! Each plane of a picture is an image of its own in the decoder's memory (`formats` says why). Making them costs the
//! driver mappings and page tables, and a decoder has few buffers, so they are kept: [`Importer`] finds those of a
//! buffer that it has seen, without touching the heap. While it keeps them it holds the dmabufs, so an inode stays who
//! it is.
//!
//! Some drivers take any stride and read rubbish; so what can be checked is checked here: every row of a picture whose
//! rows lie one after the other must be inside of its dmabuf.

mod cache;
mod check;
mod planes;

pub use planes::PlaneImages;

use crate::{
    device::Device,
    formats::{are_apart, must_be_apart},
    shared_memory::SharedImageError,
};
use ash::vk;
use cache::Cache;
use drm_fourcc::DrmModifier;
use std::{io, sync::Arc};
use veil_dmabuf::Identity;
use veil_frame::{BorrowedDmabuf, PixelFormat, Size};

/// Buffers whose images are kept: more than decoders have.
const KEPT: usize = 32;

/// A picture cannot be imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The device does not read it.
    #[error("the device cannot read {} with modifier {modifier:?}", format.info().name)]
    Unsupported {
        /// The format.
        format: PixelFormat,
        /// The modifier.
        modifier: DrmModifier,
    },
    /// It was tried before, and refused.
    #[error("{} with modifier {modifier:?} was refused before, and is not tried again", format.info().name)]
    RefusedBefore {
        /// The format.
        format: PixelFormat,
        /// The modifier.
        modifier: DrmModifier,
    },
    /// The number of planes is not the format's.
    #[error("{} has {needed} planes, not {given}", format.info().name)]
    Planes {
        /// The format.
        format: PixelFormat,
        /// Planes that were given.
        given: usize,
        /// Planes of the format.
        needed: usize,
    },
    /// The device cannot tell such planes apart.
    #[error("each plane with modifier {0:?} must lie at the beginning of a dmabuf of its own")]
    Apart(DrmModifier),
    /// It is empty, or larger than the device's images.
    #[error("a plane of {plane} pixels cannot be an image: up to {largest} can")]
    Size {
        /// The plane.
        plane: Size,
        /// The device's limit.
        largest: Size,
    },
    /// A row does not fit, or does not begin at a pixel.
    #[error("plane {plane} cannot have rows of {stride} bytes from byte {offset} on: they need {row}")]
    Stride {
        /// Index of the plane.
        plane: usize,
        /// Bytes from a row to the next.
        stride: u32,
        /// The first byte.
        offset: u32,
        /// Bytes of a row.
        row: u64,
    },
    /// Rows lie beyond the end.
    #[error("plane {plane} ends at byte {end} of a dmabuf of {size} bytes")]
    Short {
        /// Index of the plane.
        plane: usize,
        /// Bytes that it needs.
        end: u64,
        /// Bytes that are there.
        size: u64,
    },
    /// A descriptor is none, or descriptors have run out.
    #[error("a dmabuf's descriptor is of no use: {0}")]
    Descriptor(#[from] io::Error),
    /// The driver refuses the memory.
    #[error("plane {plane} cannot be imported: {error}")]
    Image {
        /// Index of the plane.
        plane: usize,
        /// Why.
        error: SharedImageError,
    },
}

/// Imports the pictures of one decoder.
pub struct Importer {
    device: Arc<Device>,
    cache: Cache<(PixelFormat, Identity), Arc<PlaneImages>>,
    refused: Vec<(PixelFormat, DrmModifier)>,
}

impl Importer {
    /// With nothing imported yet.
    pub fn new(device: &Arc<Device>) -> Self {
        Self {
            device: Arc::clone(device),
            cache: Cache::new(KEPT),
            refused: Vec::new(),
        }
    }

    /// The images of a picture's planes. `format` is what is in it; the picture's own code is not looked at, since DRM
    /// has none for some formats. A pair that the driver once refused is not tried again.
    ///
    /// # Errors
    /// [`ImportError`] says what is wrong; nothing is left open then.
    pub fn import(
        &mut self,
        dmabuf: &BorrowedDmabuf<'_>,
        format: PixelFormat,
    ) -> Result<Arc<PlaneImages>, ImportError> {
        let modifier = dmabuf.format.modifier;
        if self.refused.contains(&(format, modifier)) {
            return Err(ImportError::RefusedBefore { format, modifier });
        }
        let identity = Identity::of(dmabuf)?;
        let key = (format, identity);
        if let Some(known) = self.cache.get(&key) {
            return Ok(Arc::clone(known));
        }
        let images = match self.import_new(dmabuf, format, &identity) {
            Ok(images) => Arc::new(images),
            Err(error) => {
                if let ImportError::Image { .. } = error {
                    self.refused.push((format, modifier));
                }
                return Err(error);
            }
        };
        self.cache.insert(key, Arc::clone(&images));
        Ok(images)
    }

    fn import_new(
        &self,
        dmabuf: &BorrowedDmabuf<'_>,
        format: PixelFormat,
        identity: &Identity,
    ) -> Result<PlaneImages, ImportError> {
        let modifier = dmabuf.format.modifier;
        if !self.device.formats().reads(format, modifier) {
            return Err(ImportError::Unsupported { format, modifier });
        }
        if must_be_apart(format, modifier) && !are_apart(dmabuf, |a, b| identity.same_memory(a, b)) {
            return Err(ImportError::Apart(modifier));
        }
        check::check(&self.device, dmabuf, format)?;
        PlaneImages::new(&self.device, dmabuf, format, identity)
    }

    /// Lets go of all images that no frame in flight uses: when the decoder's buffers are others from now on.
    pub fn clear(&mut self) {
        self.cache.clear();
    }

    /// How many buffers' images are kept.
    pub fn kept(&self) -> usize {
        self.cache.len()
    }
}

/// The texel format of a plane of `size` and the extent of its image.
pub(crate) fn extent(size: Size) -> vk::Extent3D {
    vk::Extent3D {
        width: size.w,
        height: size.h,
        depth: 1,
    }
}
