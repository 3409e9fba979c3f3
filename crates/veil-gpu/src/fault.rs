//! Every call that Vulkan may refuse goes through here, so that tests can refuse it.

use ash::prelude::VkResult;

/// Runs a call that Vulkan may refuse; in a test, it may be refused without being run.
pub(crate) fn call<T>(call: impl FnOnce() -> VkResult<T>) -> VkResult<T> {
    #[cfg(feature = "fault-injection")]
    if let Some(error) = injection::due() {
        return Err(error);
    }
    call()
}

/// Whether a test wants a device without this extension.
pub(crate) fn is_hidden(_name: &std::ffi::CStr) -> bool {
    #[cfg(feature = "fault-injection")]
    return injection::is_hidden(_name);
    #[cfg(not(feature = "fault-injection"))]
    false
}

/// Faults for tests, in the thread that asks for them.
#[cfg(feature = "fault-injection")]
pub mod injection {
    use ash::vk;
    use std::{
        cell::{Cell, RefCell},
        ffi::CStr,
    };

    thread_local! {
        /// Calls until the fault, and the fault.
        static NEXT: Cell<Option<(u32, vk::Result)>> = const { Cell::new(None) };
        static HIDDEN: RefCell<Vec<&'static CStr>> = const { RefCell::new(Vec::new()) };
    }

    /// Makes this thread's call number `n` from now fail, counted from 0.
    pub fn fail(n: u32, error: vk::Result) {
        NEXT.set(Some((n, error)));
    }

    /// Takes the fault back; false if it has happened.
    pub fn disarm() -> bool {
        NEXT.take().is_some()
    }

    /// Has the devices that this thread opens from now on be without these extensions, as older drivers are.
    pub fn hide(extensions: &[&'static CStr]) {
        HIDDEN.set(extensions.to_vec());
    }

    pub(super) fn is_hidden(name: &CStr) -> bool {
        HIDDEN.with_borrow(|hidden| hidden.contains(&name))
    }

    pub(super) fn due() -> Option<vk::Result> {
        let (left, error) = NEXT.take()?;
        if left == 0 {
            return Some(error);
        }
        NEXT.set(Some((left - 1, error)));
        None
    }
}
