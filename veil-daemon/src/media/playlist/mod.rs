//! Several wallpapers, one after the other: what is in the list, and which one comes next.
//!
//! A list is read anew at each step, so what was added is found and what has vanished is not missed. Where one is in it is
//! remembered by the entry itself, not by its number alone.

mod cursor;
mod list;

pub(crate) use cursor::Cursor;
pub(crate) use list::{ListError, entries};
