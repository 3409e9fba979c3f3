//! One commit a refresh.
//!
//! Pictures that come about as often as the screen is refreshed drift against it, and two of them fall into one refresh
//! now and then: the first would never be seen, and the next refresh would show nothing new. So a picture that comes
//! while the compositor still has to take the one before is held until the frame callback says that it did. Nothing is
//! held for long, nor where callbacks do not come (a screen that is off, a surface that is hidden).

use crate::surface::Content;
use std::time::{Duration, Instant};

/// The refresh period where the compositor names none.
const USUAL_REFRESH: Duration = Duration::from_micros(16_667);

/// A picture that waits for the one before.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) content: Content,
    pub(crate) token: u64,
}

/// What was committed last on one surface, and what waits.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    /// When a picture came last, committed or held.
    last: Option<Instant>,
    /// The last commit, when its frame callback is still to come.
    unanswered: Option<(u64, Instant)>,
    held: Option<Held>,
}

/// The period of a refresh rate in mHz; 0 is unknown.
pub(crate) fn refresh_period(refresh_mhz: u32) -> Duration {
    if refresh_mhz == 0 {
        USUAL_REFRESH
    } else {
        Duration::from_secs_f64(1000.0 / f64::from(refresh_mhz))
    }
}

impl Pace {
    /// A picture comes now. Whether it comes so soon after the one before that its frame callback should be asked for.
    pub(crate) fn is_fast(&mut self, now: Instant, refresh: Duration) -> bool {
        let before = self.last.replace(now);
        // Two thirds of the rate: at half of it and below, no two pictures meet.
        before.is_some_and(|before| now.saturating_duration_since(before) < refresh.mul_f64(1.5))
    }

    /// Whether the compositor still has to take the commit before, and is likely to do so soon.
    pub(crate) fn must_wait(&self, now: Instant, refresh: Duration) -> bool {
        self.unanswered
            .is_some_and(|(_, at)| now.saturating_duration_since(at) < refresh.mul_f64(1.5))
    }

    /// Holds a picture; gives back the one that was held before, which will never be shown.
    pub(crate) fn hold(&mut self, content: &Content, token: u64) -> Option<Held> {
        self.held.replace(Held {
            content: content.clone(),
            token,
        })
    }

    /// Takes what is held.
    pub(crate) fn take(&mut self) -> Option<Held> {
        self.held.take()
    }

    /// Whether a picture is held.
    pub(crate) fn holds(&self) -> bool {
        self.held.is_some()
    }

    /// A picture was committed; `asked`: its frame callback will come.
    pub(crate) fn committed(&mut self, token: u64, now: Instant, asked: bool) {
        self.unanswered = asked.then_some((token, now));
    }

    /// The frame callback of the last commit will never come.
    pub(crate) fn forget(&mut self) {
        self.unanswered = None;
    }

    /// A frame callback came: what is held may be committed now, if it was the last commit's.
    pub(crate) fn answered(&mut self, token: u64) -> Option<Held> {
        if self.unanswered.is_some_and(|(last, _)| last <= token) {
            self.unanswered = None;
            return self.held.take();
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{os::fd::OwnedFd, sync::Arc};
    use veil_frame::{
        Backing, FitMode, Picture, Presentable, Size, Target, TargetPlan, presentable::Released,
    };

    fn content() -> Content {
        let fd = OwnedFd::from(std::fs::File::open("/dev/null").unwrap());
        let size = Size::new(4, 4);
        let xrgb = drm_fourcc::DrmFourcc::Xrgb8888;
        let backing = Backing::Shm { fd, len: 0 };
        let target = Target::new(backing, size, 16, xrgb, Arc::new(Released::default()));
        let presentable = Presentable {
            target: target.try_take().unwrap(),
            plan: TargetPlan::whole(Picture::plain(size)),
            sequence: 0,
            labels: None,
        };
        Content {
            presentable,
            mode: FitMode::Fill,
        }
    }

    #[test]
    fn a_picture_waits_for_the_one_before_but_not_for_long() {
        let refresh = refresh_period(60_000);
        let ms = |n| Duration::from_millis(n);
        let start = Instant::now();
        let mut pace = Pace::default();
        assert!(!pace.is_fast(start, refresh));
        pace.committed(1, start, false);
        assert!(!pace.must_wait(start, refresh), "nobody will answer");
        assert!(pace.is_fast(start + ms(16), refresh));
        pace.committed(2, start + ms(16), true);
        assert!(pace.must_wait(start + ms(30), refresh));
        assert!(!pace.must_wait(start + ms(60), refresh), "nobody has answered");
        assert!(pace.hold(&content(), 3).is_none() && pace.holds());
        assert_eq!(pace.hold(&content(), 4).map(|held| held.token), Some(3));
        assert!(pace.answered(1).is_none(), "of an earlier commit");
        assert_eq!(pace.answered(2).map(|held| held.token), Some(4));
        assert!(!pace.holds() && !pace.must_wait(start + ms(30), refresh));
    }

    #[test]
    fn half_the_rate_is_not_fast() {
        let mut pace = Pace::default();
        let start = Instant::now();
        for n in 0..10 {
            assert!(!pace.is_fast(start + Duration::from_millis(33) * n, refresh_period(0)));
        }
    }
}
