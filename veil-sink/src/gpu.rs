//! The GPU that converts: opened when the first stream needs it, shared by all streams of the process, and closed with
//! the last.
//!
//! Opening loads the driver, so nothing here happens for pictures that stand still, nor where the compositor takes no dmabufs.
//! A device that could not be opened is not tried again; one that was lost is opened anew for whoever asks.

use std::{
    env,
    sync::{Arc, Mutex, PoisonError, Weak},
};
use veil_frame::DmabufSupport;
use veil_gpu::{Device, DeviceChoice, Pipelines};

/// The variable that names a device, where the property `device` does not.
const VARIABLE: &str = "VEIL_DEVICE";

/// An open device, and the shaders on it.
pub(crate) struct Gpu {
    pub(crate) pipelines: Arc<Pipelines>,
}

impl Gpu {
    pub(crate) fn device(&self) -> &Arc<Device> {
        self.pipelines.device()
    }

    /// Whether it is the device of this node (`dev_t`), as far as both are known.
    pub(crate) fn shares_memory_with(&self, node: Option<u64>) -> bool {
        let info = self.device().info();
        let own = [info.render_node, info.primary_node];
        node.is_none() || own == [None; 2] || own.contains(&node)
    }
}

impl std::fmt::Debug for Gpu {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Gpu").field(&self.device().info().name).finish()
    }
}

/// What became of opening a device.
struct Tried {
    choice: DeviceChoice,
    opened: Result<Weak<Gpu>, Arc<str>>,
}

static TRIED: Mutex<Vec<Tried>> = Mutex::new(Vec::new());

/// The device for surfaces that take this: the one that is named, else the compositor's.
///
/// # Errors
/// Why there is none, in words for `veil status`.
pub(crate) fn open(named: Option<&str>, support: &DmabufSupport) -> Result<Arc<Gpu>, Arc<str>> {
    let variable = env::var(VARIABLE).ok().filter(|name| !name.is_empty());
    let choice = match (named.map(str::to_owned).or(variable), support.device) {
        (Some(name), _) => DeviceChoice::Named(name),
        (None, Some(node)) => DeviceChoice::Node(node),
        (None, None) => DeviceChoice::Only,
    };
    let mut tried = TRIED.lock().unwrap_or_else(PoisonError::into_inner);
    let index = match tried.iter().position(|tried| tried.choice == choice) {
        Some(index) => index,
        None => {
            tried.push(Tried {
                choice: choice.clone(),
                opened: Ok(Weak::new()),
            });
            tried.len() - 1
        }
    };
    let entry = &mut tried[index];
    let opened = entry.opened.clone()?.upgrade();
    if let Some(gpu) = opened.filter(|gpu| !gpu.device().lost()) {
        return Ok(gpu);
    }
    let gpu = Device::open(&choice)
        .map_err(|error| error.to_string())
        .and_then(|device| Pipelines::new(&device).map_err(|error| error.to_string()));
    match gpu {
        Ok(pipelines) => {
            let gpu = Arc::new(Gpu { pipelines });
            entry.opened = Ok(Arc::downgrade(&gpu));
            Ok(gpu)
        }
        Err(reason) => {
            let reason: Arc<str> = reason.into();
            entry.opened = Err(Arc::clone(&reason));
            Err(reason)
        }
    }
}
