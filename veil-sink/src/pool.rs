//! Buffers in dmabufs for decoders that write by the CPU: what they write can be attached, or read by a GPU, where it is.
//!
//! A pool is proposed in the answer to the allocation query. A decoder that takes it says in the pool's configuration how much
//! padding it needs around the picture (`GstBufferPoolOptionVideoAlignment`), and may take it only if it can say that, and
//! reads where planes lie (`GstBufferPoolOptionVideoMeta`). Rows begin at multiples of 256 bytes, which every GPU can import
//! (AMD's take no others; NVIDIA's take them, and show garbage). Memory stays mapped from first to last: it is the decoder's to
//! write and the device's to read, frame after frame.
//!
//! A buffer that has come back may still be read, by a GPU or a compositor that let go of it when it had only begun. Their
//! fences are in the dmabuf, and are waited for before the decoder gets it again. From then on the CPU writes, which devices that do not
//! look into its caches are told of: here that it begins, and by [`dmabuf_memory::written`] that it ended.
//!
//! libav's decoders copy each frame into the pool, once, and it is read there. They write into a pool at once only where its rows
//! are as long as in the memory that they began with (for H.264 and H.265 never in GStreamer 1.28). That is no gain: they keep what
//! they may still refer to locked for writing, and GStreamer's base class of decoders copies that into plain memory before it
//! hands it on. So it does no harm that rows of 256 bytes are seldom theirs. Where frames are as large as whole macroblocks,
//! GStreamer before 1.28 leaves the decoder its own memory, and the sink copies.
//!
//! Where dmabufs run out in the middle (udmabuf makes none above 64 MiB, descriptors are counted), plain memory is given: to most
//! decoders a pool without buffers is an error that ends the stream.

use gstreamer as gst;
use gstreamer_allocators as gst_allocators;
use gstreamer_video as gst_video;

use crate::{dmabuf_memory, imp::CAT};
use gst::{glib, prelude::*, subclass::prelude::*};
use gst_video::{VideoBufferPoolConfig, VideoFrameFlags, VideoMeta};
use std::{
    io,
    os::fd::BorrowedFd,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
    time::Duration,
};
use veil_dmabuf::{
    Access, Allocator, begin_access,
    fence::{self, Use},
};

/// Bytes that rows begin at a multiple of, less one: GStreamer's way to say it.
const STRIDE_MASK: u32 = 255;

/// `GST_BUFFER_POOL_OPTION_VIDEO_META` and `_VIDEO_ALIGNMENT`.
const META: &str = "GstBufferPoolOptionVideoMeta";
const ALIGNMENT: &str = "GstBufferPoolOptionVideoAlignment";

/// The longest wait for those who still read a buffer that has come back; a device that takes longer hangs.
const READERS: Duration = Duration::from_millis(500);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

mod imp {
    use super::*;

    /// The instance's state.
    #[derive(Debug, Default)]
    pub struct DmabufPool {
        pub(super) allocator: OnceLock<Arc<Allocator>>,
        pub(super) wrapper: OnceLock<gst_allocators::DmaBufAllocator>,
        layout: Mutex<Option<gst_video::VideoInfo>>,
    }

    #[glib::object_subclass]
    impl ObjectSubclass for DmabufPool {
        const NAME: &'static str = "GstVeilDmabufPool";
        type Type = super::DmabufPool;
        type ParentType = gst::BufferPool;
    }

    impl ObjectImpl for DmabufPool {}
    impl GstObjectImpl for DmabufPool {}

    impl BufferPoolImpl for DmabufPool {
        fn options() -> &'static [&'static str] {
            &[META, ALIGNMENT]
        }

        fn set_config(&self, config: &mut gst::BufferPoolConfigRef) -> bool {
            let Some((caps, _, min, max)) = config.params() else {
                return false;
            };
            let Some(mut info) = caps.and_then(|caps| gst_video::VideoInfo::from_caps(&caps).ok()) else {
                return false;
            };
            // The numbers may be there without the option.
            let asked = config
                .has_option(ALIGNMENT)
                .then(|| config.video_alignment())
                .flatten();
            let masks = asked
                .as_ref()
                .map_or([0; gst_video::VIDEO_MAX_PLANES], |asked| *asked.stride_align());
            let padding = asked.as_ref().map_or((0, 0, 0, 0), |asked| {
                (
                    asked.padding_top(),
                    asked.padding_bottom(),
                    asked.padding_left(),
                    asked.padding_right(),
                )
            });
            let (top, bottom, left, right) = padding;
            let masks = masks.map(|mask| mask | STRIDE_MASK);
            let mut alignment = gst_video::VideoAlignment::new(top, bottom, left, right, &masks);
            if info.align(&mut alignment).is_err() {
                return false;
            }
            if asked.is_some() {
                config.set_video_alignment(&alignment);
            }
            let Some((caps, ..)) = config.params() else {
                return false;
            };
            let Ok(size) = u32::try_from(info.size()) else {
                return false;
            };
            config.set_params(caps.as_ref(), size, min, max);
            *lock(&self.layout) = Some(info);
            self.parent_set_config(config)
        }

        fn alloc_buffer(
            &self,
            params: Option<&gst::BufferPoolAcquireParams>,
        ) -> Result<gst::Buffer, gst::FlowError> {
            let layout = lock(&self.layout);
            let info = layout.as_ref().ok_or(gst::FlowError::NotNegotiated)?;
            let mut buffer = match self.memory(info.size()) {
                Some(memory) => {
                    let mut buffer = gst::Buffer::new();
                    buffer.make_mut().append_memory(memory);
                    buffer
                }
                None => self.parent_alloc_buffer(params)?,
            };
            let writable = buffer.make_mut();
            VideoMeta::add_full(
                writable,
                VideoFrameFlags::empty(),
                info.format(),
                info.width(),
                info.height(),
                info.offset(),
                info.stride(),
            )
            .map_err(|_| gst::FlowError::Error)?;
            Ok(buffer)
        }

        fn acquire_buffer(
            &self,
            params: Option<&gst::BufferPoolAcquireParams>,
        ) -> Result<gst::Buffer, gst::FlowError> {
            let buffer = self.parent_acquire_buffer(params)?;
            if let Some(plane) = dmabuf_memory::plane(&buffer, 0, 0) {
                self.begin_writing(plane.fd);
            }
            Ok(buffer)
        }
    }

    impl DmabufPool {
        /// A dmabuf, if there is one to be had.
        fn memory(&self, len: usize) -> Option<gst::Memory> {
            let (allocator, wrapper) = (self.allocator.get()?, self.wrapper.get()?);
            match allocator.allocate(len) {
                Ok(fd) => dmabuf_memory::wrap(wrapper, fd, len).ok(),
                Err(error) => {
                    gst::warning!(CAT, imp = self, "plain memory instead: {error}");
                    None
                }
            }
        }

        /// Waits for those who read this dmabuf still, and lets the CPU at it.
        fn begin_writing(&self, dmabuf: BorrowedFd<'_>) {
            let result = match fence::wait_until_usable(dmabuf, Use::Write, READERS) {
                Ok(true) => begin_access(dmabuf, Access::Write).map_err(io::Error::other),
                Ok(false) => Err(io::ErrorKind::TimedOut.into()),
                Err(error) => Err(error),
            };
            if let Err(error) = result {
                gst::warning!(
                    CAT,
                    imp = self,
                    "somebody still reads a buffer that is written: {error}"
                );
            }
        }
    }
}

glib::wrapper! {
    /// See the module.
    #[allow(unreachable_pub)]
    pub struct DmabufPool(ObjectSubclass<imp::DmabufPool>) @extends gst::BufferPool, gst::Object;
}

impl DmabufPool {
    /// A pool of buffers for these caps, which are of system memory; at least `min` of them.
    pub(crate) fn new(allocator: Arc<Allocator>, caps: &gst::Caps, size: u32, min: u32) -> Option<Self> {
        let pool: Self = glib::Object::new();
        let imp = pool.imp();
        imp.allocator.set(allocator).ok()?;
        imp.wrapper.set(gst_allocators::DmaBufAllocator::new()).ok()?;
        let mut config = pool.config();
        config.set_params(Some(caps), size, min, 0);
        config.add_option(META);
        pool.set_config(config).ok()?;
        Some(pool)
    }

    /// Bytes of a buffer.
    pub(crate) fn buffer_size(&self) -> Option<u32> {
        self.config().params().map(|(_, size, ..)| size)
    }
}

/// What makes dmabufs in this process; opened once. `None` where the user may not: that is told once, with the reason.
pub(crate) fn allocator() -> Option<Arc<Allocator>> {
    static ALLOCATOR: OnceLock<Option<Arc<Allocator>>> = OnceLock::new();
    ALLOCATOR
        .get_or_init(|| match Allocator::open() {
            Ok(allocator) => Some(Arc::new(allocator)),
            Err(error) => {
                gst::info!(CAT, "decoders write into memory that must be copied: {error}");
                None
            }
        })
        .clone()
}
