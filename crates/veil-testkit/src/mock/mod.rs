//! A compositor that does what a test tells it to, for what real ones do not do on demand.
//!
//! ```no_run
//! use veil_testkit::{clips, mock::{Mock, MockOutput, Pace, Stage}};
//!
//! # fn main() -> anyhow::Result<()> {
//! let mock = Mock::builder().output(MockOutput::new("DP-1", 640, 360));
//! let clip = clips::plain([200, 30, 30])?;
//! let mut stage = Stage::start(mock, ["--input".as_ref(), clip.as_os_str()])?;
//! stage.mock.wait_for_picture("DP-1", "red", |shot| shot.is_plain([200, 30, 30], 3))?;
//! // The screen goes off: nothing is presented any more, until it is on again.
//! stage.mock.change("DP-1", |output| output.pace = Pace::ByHand)?;
//! stage.mock.change("DP-1", |output| output.pace = Pace::Clock)?;
//! stage.daemon.wait_frames("DP-1", 10)?;
//! # Ok(())
//! # }
//! ```
//!
//! It has a thread of its own and behaves like a simple, correct compositor until it is told otherwise: surfaces get
//! the output's size, outputs refresh at the rate of their mode (with presentation times that are exact multiples of
//! their period), buffers are released when another is on the screen. Every method may be called at any time; what it
//! does has been sent when it returns.
//!
//! A client that breaks a rule for which real compositors end it is ended too; what they would only show as a wrong
//! picture (a buffer that is attached before it was released) is among the [`complaints`](Mock::complaints).

mod buffer;
mod color_management;
mod commit;
mod dmabuf;
mod globals;
mod layer;
mod node;
mod orders;
mod output;
mod params;
mod picture;
mod record;
mod refresh;
mod representation;
mod seen;
mod server;
mod stage;
mod state;
mod surface;
mod syncobj;
mod viewport;
mod window;

pub use color_management::ImageDescription;
pub use dmabuf::{MockDmabuf, MockTranche};
pub use globals::Global;
pub use output::{Configures, MockOutput};
pub use record::{Area, Commit, Layer, Role, Surface, SurfaceId};
pub use refresh::{Pace, Releases};
pub use representation::Representation;
pub use stage::Stage;

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::thread::JoinHandle;

use anyhow::{Context, Result};
use wayland_server::{Display, ListeningSocket};

use crate::session::Session;
use server::Shared;
use state::State;

/// What a [`Mock`] is started with.
#[derive(Clone, Debug)]
pub struct MockBuilder {
    outputs: Vec<MockOutput>,
    globals: BTreeSet<Global>,
    releases: Releases,
    dmabuf: MockDmabuf,
    versions: BTreeMap<Global, u32>,
}

impl MockBuilder {
    /// One more output. Without any there is none.
    pub fn output(mut self, output: MockOutput) -> Self {
        self.outputs.push(output);
        self
    }

    /// With a global that is not there unless it is asked for.
    pub fn with(mut self, global: Global) -> Self {
        self.globals.insert(global);
        self
    }

    /// With a global in another version.
    pub fn version(mut self, global: Global, version: u32) -> Self {
        self.versions.insert(global, version);
        self.with(global)
    }

    /// With `zwp_linux_dmabuf_v1`, which takes this.
    pub fn dmabuf(mut self, dmabuf: MockDmabuf) -> Self {
        self.dmabuf = dmabuf;
        self.with(Global::LinuxDmabuf)
    }

    /// Without a global: all are there unless one is left out, those of [`Global::UNUSUAL`] apart.
    pub fn without(mut self, global: Global) -> Self {
        self.globals.remove(&global);
        self
    }

    /// With another time at which buffers are released.
    pub fn releases(mut self, releases: Releases) -> Self {
        self.releases = releases;
        self
    }

    /// Starts it.
    pub fn start(self) -> Result<Mock> {
        let session = Session::new("wayland-mock")?;
        let listener = ListeningSocket::bind_absolute(session.runtime_dir().join(session.display()))?;
        let display = Display::<State>::new().context("cannot make a Wayland display")?;
        let mut state = State::new(display.handle());
        state.releases = self.releases;
        state.dmabufs.everywhere = self.dmabuf;
        state.versions = self.versions;
        for global in self.globals {
            state.add_global(global);
        }
        for output in self.outputs {
            state.add_screen(output);
        }
        let (wake, woken) = UnixStream::pair()?;
        wake.set_nonblocking(true)?;
        woken.set_nonblocking(true)?;
        let shared = Arc::new(Shared::new(state, wake));
        let thread = {
            let shared = Arc::clone(&shared);
            std::thread::Builder::new()
                .name("mock".into())
                .spawn(move || server::serve(&shared, display, &listener, &woken))?
        };
        Ok(Mock {
            shared,
            session,
            thread: Some(thread),
        })
    }
}

/// A running mock compositor. It ends when this is dropped.
#[derive(Debug)]
pub struct Mock {
    shared: Arc<Shared>,
    session: Session,
    thread: Option<JoinHandle<Result<()>>>,
}

impl Mock {
    /// To say what it shall have.
    pub fn builder() -> MockBuilder {
        let all = Global::ALL.iter().copied();
        let usual = all.filter(|global| !Global::UNUSUAL.contains(global));
        MockBuilder {
            outputs: Vec::new(),
            globals: usual.collect(),
            releases: Releases::default(),
            dmabuf: MockDmabuf::default(),
            versions: BTreeMap::new(),
        }
    }

    /// With all usual globals, and one output of this size.
    pub fn start(name: &str, width: u32, height: u32) -> Result<Self> {
        Self::builder()
            .output(MockOutput::new(name, width, height))
            .start()
    }

    /// Its folders and environment, for the programs that are to be its clients.
    pub fn session(&self) -> &Session {
        &self.session
    }
}

impl Drop for Mock {
    fn drop(&mut self) {
        self.shared.end();
        if let Some(thread) = self.thread.take()
            && !matches!(thread.join(), Ok(Ok(())))
        {
            eprintln!("the mock compositor failed");
        }
    }
}
