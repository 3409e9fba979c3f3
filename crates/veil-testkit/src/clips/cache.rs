//! The folder that keeps what was made once.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use rustix::fs::{FlockOperation, flock};

/// Where the files are.
pub fn folder() -> Result<PathBuf> {
    let folder = crate::target().join("test-inputs");
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    Ok(folder)
}

/// The file or folder `name`, made by `maker` unless it is there and was made with the same `recipe`.
///
/// Tests that run at the same time, in processes of their own, wait for each other; a maker that fails or is killed
/// leaves nothing that looks finished.
pub fn make(name: &str, recipe: &str, maker: impl FnOnce(&Path) -> Result<()>) -> Result<PathBuf> {
    let folder = folder()?;
    let (path, stamp) = (folder.join(name), folder.join(format!(".{name}.recipe")));
    let lock = File::create(folder.join(format!(".{name}.lock")))?;
    flock(&lock, FlockOperation::LockExclusive).context("cannot lock the clips' folder")?;
    if path.exists() && fs::read_to_string(&stamp).is_ok_and(|made_by| made_by == recipe) {
        return Ok(path);
    }
    remove(&path)?;
    // The name's ending stays: it tells ffmpeg and the picture writer which container is meant.
    let unfinished = folder.join(format!("unfinished-{name}"));
    remove(&unfinished)?;
    maker(&unfinished).with_context(|| format!("cannot make {name}"))?;
    fs::rename(&unfinished, &path).with_context(|| format!("{name} was not made"))?;
    fs::write(&stamp, recipe)?;
    Ok(path)
}

fn remove(path: &Path) -> Result<()> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(_) => Ok(()),
    }
    .with_context(|| format!("cannot remove {}", path.display()))
}
