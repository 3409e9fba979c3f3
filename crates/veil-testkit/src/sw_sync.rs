//! Fences that signal when a test says so: `/sys/kernel/debug/sync/sw_sync` of the test machine.
//!
//! A timeline is a counter; a fence on it signals when the counter has reached its number (`linux/sw_sync`, drivers/dma-buf).

use anyhow::{Context, Result};
use rustix::ioctl::{Setter, Updater, ioctl, opcode};
use std::{
    fs::{File, OpenOptions},
    os::fd::{FromRawFd, OwnedFd},
};

const PATH: &str = "/sys/kernel/debug/sync/sw_sync";

#[repr(C)]
struct CreateFence {
    value: u32,
    name: [u8; 32],
    fence: i32,
}

/// A counter.
#[derive(Debug)]
pub struct Timeline(File);

impl Timeline {
    /// A new one, at 0.
    ///
    /// # Errors
    /// Where the kernel has none, or the test does not run as root.
    pub fn new() -> Result<Self> {
        let file = OpenOptions::new().read(true).write(true).open(PATH);
        Ok(Self(file.with_context(|| format!("cannot open {PATH}"))?))
    }

    /// A sync file that signals when the counter has reached this number.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn fence(&self, value: u32) -> Result<OwnedFd> {
        let mut request = CreateFence {
            value,
            name: [0; 32],
            fence: -1,
        };
        // SAFETY: the opcode is that of the structure, which the kernel reads and writes.
        unsafe {
            let request = Updater::<{ opcode::read_write::<CreateFence>(b'W', 0) }, _>::new(&mut request);
            ioctl(&self.0, request).context("no fence from sw_sync")?;
        }
        // SAFETY: the kernel has made this descriptor for the caller just now.
        Ok(unsafe { OwnedFd::from_raw_fd(request.fence) })
    }

    /// Counts on.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn advance(&self, by: u32) -> Result<()> {
        // SAFETY: the opcode is that of the structure, a number, which the kernel only reads.
        unsafe {
            let request = Setter::<{ opcode::write::<u32>(b'W', 1) }, u32>::new(by);
            ioctl(&self.0, request).context("sw_sync does not count on")
        }
    }
}
