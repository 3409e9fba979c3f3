//! What the sink's streaming thread and its own loop share.

use super::statistics::Statistics;
use crate::LoopPresenter;
use calloop::ping::Ping;
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};
use veil_frame::Demand;

#[derive(Debug)]
pub(super) struct Shared {
    pub(super) presenter: Arc<LoopPresenter>,
    pub(super) statistics: Statistics,
    lost: AtomicBool,
}

impl Shared {
    pub(super) fn new(demand: Demand, ping: Ping) -> Self {
        Self {
            presenter: LoopPresenter::new(demand, ping),
            statistics: Statistics::default(),
            lost: AtomicBool::new(false),
        }
    }

    /// Nothing can be shown any more. False if that was known.
    pub(super) fn lose(&self) -> bool {
        !self.lost.swap(true, Ordering::AcqRel)
    }

    pub(super) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Acquire)
    }
}
