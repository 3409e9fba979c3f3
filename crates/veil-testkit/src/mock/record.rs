//! What a [`Mock`](super::Mock) has seen its client do.

use drm_fourcc::DrmFormat;
use std::time::Instant;

use super::{ImageDescription, Representation};

/// Names a surface; never used again for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SurfaceId(pub u32);

/// A rectangle in whole numbers, as requests have it: `x`, `y`, width, height.
pub type Area = (i32, i32, i32, i32);

/// What a surface is for.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Role {
    /// Nothing yet.
    #[default]
    None,
    /// A layer surface.
    Layer(Layer),
    /// A part of another surface.
    Subsurface {
        /// Of which one.
        parent: SurfaceId,
        /// Where in it, in logical pixels.
        position: (i32, i32),
        /// Whether its commits wait for its parent's.
        synchronised: bool,
    },
    /// A window.
    Window {
        /// Its title.
        title: String,
        /// Its application.
        app_id: String,
    },
}

/// A layer surface, as it was asked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Layer {
    /// The name of its output.
    pub output: String,
    /// Its namespace.
    pub namespace: String,
    /// A number of `zwlr_layer_shell_v1.layer`: 0 is the background.
    pub layer: u32,
    /// Bits of `zwlr_layer_surface_v1.anchor`: 15 is all edges.
    pub anchor: u32,
    /// -1: it wants the whole output.
    pub exclusive_zone: i32,
    /// A number of `zwlr_layer_surface_v1.keyboard_interactivity`: 0 is none.
    pub keyboard: u32,
    /// The size that it asked for; 0 is for the compositor to say.
    pub size: (u32, u32),
    /// The serial that it acknowledged last.
    pub acknowledged: Option<u32>,
    /// It was closed by the mock.
    pub closed: bool,
}

/// A surface as it is now.
#[derive(Clone, Debug, PartialEq)]
pub struct Surface {
    /// Which one it is.
    pub id: SurfaceId,
    /// What it is for.
    pub role: Role,
    /// Its subsurfaces, the lowest first.
    pub children: Vec<SurfaceId>,
    /// Width and height of the buffer that it shows; `None` while it has none.
    pub buffer: Option<(i32, i32)>,
    /// Which memory that buffer is in: the same number for the same memory, whoever shows it.
    pub memory: Option<u64>,
    /// `wp_viewport.set_source`: x, y, width, height.
    pub source: Option<[f64; 4]>,
    /// `wp_viewport.set_destination`.
    pub destination: Option<(i32, i32)>,
    /// A number of `wl_output.transform`.
    pub transform: u32,
    /// `wl_surface.set_buffer_scale`.
    pub scale: i32,
    /// Where it takes input; `None` is everywhere.
    pub input: Option<Vec<Area>>,
    /// How often it was committed.
    pub commits: u64,
    /// Frame callbacks that wait for an answer.
    pub callbacks: usize,
    /// Presentation feedback that waits for an answer.
    pub feedback: usize,
    /// Buffers that it does not show any more and that were not released.
    pub held: usize,
    /// Format and modifier of the dmabuf that it shows; `None` if it shows none.
    pub format: Option<DrmFormat>,
    /// What was told of its numbers.
    pub representation: Option<Representation>,
    /// What was told of its primaries and curve.
    pub image: Option<ImageDescription>,
    /// Whether its buffer came with points of timelines.
    pub explicit: bool,
}

/// One `wl_surface.commit`.
#[derive(Clone, Debug, PartialEq)]
pub struct Commit {
    /// When it was read.
    pub at: Instant,
    /// Of which surface.
    pub surface: SurfaceId,
    /// The buffer that came with it: its size, or nothing for "take it away"; `None` if none was attached.
    pub attached: Option<Option<(i32, i32)>>,
    /// Which memory that buffer is in: see [`Surface::memory`].
    pub memory: Option<u64>,
    /// What `damage_buffer` and `damage` said.
    pub damage: Vec<Area>,
    /// A new source, if it came with one.
    pub source: Option<Option<[f64; 4]>>,
    /// A new destination, if it came with one.
    pub destination: Option<Option<(i32, i32)>>,
    /// A new transform, if it came with one.
    pub transform: Option<u32>,
    /// How many frame callbacks were asked for.
    pub callbacks: usize,
    /// How many presentation feedbacks were asked for.
    pub feedback: usize,
    /// It waits for its parent's commit.
    pub waits: bool,
}
