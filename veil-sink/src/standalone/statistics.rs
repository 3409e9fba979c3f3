//! What became of the pictures on each surface, shared between the loop and whoever reads the property.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use veil_frame::Shown;
use veil_wayland::{PresentationStats, SurfaceId};

/// One surface's share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SurfaceStats {
    /// The output's name, or “window”.
    pub(crate) name: String,
    /// Pictures that were on the screen.
    pub(crate) shown: u64,
    /// Pictures that were handed to the compositor and never shown.
    pub(crate) missed: u64,
    /// Mean and longest time between pictures on the screen.
    pub(crate) intervals: Option<(Duration, Duration)>,
}

#[derive(Debug)]
struct Entry {
    name: String,
    committed: u64,
    presented: PresentationStats,
}

/// The counts of all surfaces.
#[derive(Debug, Default)]
pub(crate) struct Statistics(Mutex<BTreeMap<SurfaceId, Entry>>);

impl Statistics {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<SurfaceId, Entry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts for a new surface.
    pub(crate) fn add(&self, id: SurfaceId, name: &str) {
        self.lock().entry(id).or_insert_with(|| Entry {
            name: name.to_owned(),
            committed: 0,
            presented: PresentationStats::default(),
        });
    }

    /// Forgets a surface.
    pub(crate) fn remove(&self, id: SurfaceId) {
        self.lock().remove(&id);
    }

    /// Notes a commit.
    pub(crate) fn committed(&self, id: SurfaceId, token: u64) {
        if let Some(entry) = self.lock().get_mut(&id) {
            entry.committed += 1;
            entry.presented.committed(token);
        }
    }

    /// Notes what became of it.
    pub(crate) fn note(&self, id: SurfaceId, token: u64, shown: Shown) {
        if let Some(entry) = self.lock().get_mut(&id) {
            entry.presented.note(token, shown);
        }
    }

    /// The counts now.
    pub(crate) fn snapshot(&self) -> Vec<SurfaceStats> {
        self.lock()
            .values()
            .map(|entry| SurfaceStats {
                name: entry.name.clone(),
                shown: entry.presented.shown(),
                missed: entry.presented.missed(entry.committed),
                intervals: entry.presented.intervals(),
            })
            .collect()
    }
}
