//! When the compositor's descriptor wakes the loop.
//!
//! Every frame has three events in its wake: a release, a presentation time, and the picture itself. While pictures
//! flow the first two can wait for the third, so the descriptor is not watched: one wake-up a frame instead of three.
//! After a tenth of a second without a picture it is watched again.

use crate::Display;
use calloop::{Dispatcher, Interest, LoopHandle, Mode, PostAction, RegistrationToken, generic::Generic};
use std::{
    cell::RefCell,
    os::fd::OwnedFd,
    rc::Rc,
    time::{Duration, Instant},
};
use wayland_client::Connection;

/// How long after a picture the descriptor is left alone.
const FLOWING: Duration = Duration::from_millis(100);

/// Watches the compositor's descriptors in an event loop with the data `D`, or does not.
#[derive(Debug)]
pub struct WaylandWatch<D> {
    source: Dispatcher<'static, Generic<Connection>, D>,
    token: RegistrationToken,
    /// Releases that do not come by the connection.
    releases: Option<RegistrationToken>,
    watching: bool,
    writing: bool,
    flowing_until: Option<Instant>,
}

impl<D: 'static> WaylandWatch<D> {
    /// Begins to watch a connection, and its releases that come beside it; `readable` is called when there is something to
    /// read ([`Display::pump`]), or room to write that was waited for.
    ///
    /// # Errors
    /// When the loop cannot watch the descriptor.
    pub fn new(
        handle: &LoopHandle<'static, D>,
        display: &Display,
        readable: impl FnMut(&mut D) + 'static,
    ) -> calloop::Result<Self> {
        let readable = Rc::new(RefCell::new(readable));
        let source = Generic::new(display.connection(), Interest::READ, Mode::Level);
        let tell = Rc::clone(&readable);
        let source = Dispatcher::new(source, move |_, _: &mut _, data: &mut D| {
            tell.borrow_mut()(data);
            Ok(PostAction::Continue)
        });
        let token = handle.register_dispatcher(source.clone())?;
        let event = display.release_event().map(|event| event.try_clone_to_owned());
        let releases = match event.transpose()? {
            Some(event) => {
                let source: Generic<OwnedFd> = Generic::new(event, Interest::READ, Mode::Level);
                let told = move |_, _: &mut _, data: &mut D| {
                    readable.borrow_mut()(data);
                    Ok(PostAction::Continue)
                };
                Some(handle.insert_source(source, told)?)
            }
            None => None,
        };
        Ok(Self {
            source,
            token,
            releases,
            watching: true,
            writing: false,
            flowing_until: None,
        })
    }

    /// Watches no more, for good: the connection has ended, and its descriptor would wake the loop without end.
    pub fn stop(&mut self, handle: &LoopHandle<'static, D>) {
        // Of a source that is not watched at the moment the loop would complain when it goes.
        self.set(handle, true);
        handle.remove(self.token);
        if let Some(releases) = self.releases.take() {
            handle.remove(releases);
        }
    }

    /// Whether to be woken also when the compositor has read enough for more to be sent. While that is so, the
    /// descriptor is watched in any case.
    pub fn wait_for_room(&mut self, handle: &LoopHandle<'static, D>, wait: bool) {
        if wait == self.writing {
            return;
        }
        self.writing = wait;
        self.source.as_source_mut().interest = if wait { Interest::BOTH } else { Interest::READ };
        if self.watching {
            if let Err(error) = handle.update(&self.token) {
                tracing::error!("cannot change what the loop watches: {error}");
            }
        } else if wait {
            self.set(handle, true);
        }
    }

    /// A picture came. `urgent`: somebody waits for an answer of the compositor, so go on watching.
    pub fn picture(&mut self, handle: &LoopHandle<'static, D>, now: Instant, urgent: bool) {
        self.flowing_until = Some(now + FLOWING);
        self.set(handle, urgent || self.writing);
    }

    /// No picture came: watches again if pictures have ceased, or while it is urgent.
    pub fn refresh(&mut self, handle: &LoopHandle<'static, D>, now: Instant, urgent: bool) {
        let flowing = self.flowing_until.is_some_and(|until| until > now);
        self.set(handle, urgent || self.writing || !flowing);
    }

    /// How long the loop may sleep.
    pub fn timeout(&self, now: Instant) -> Option<Duration> {
        if self.watching {
            return None;
        }
        self.flowing_until
            .map(|until| until.saturating_duration_since(now))
    }

    fn set(&mut self, handle: &LoopHandle<'static, D>, watching: bool) {
        if self.watching == watching {
            return;
        }
        let done = if watching {
            handle.enable(&self.token)
        } else {
            handle.disable(&self.token)
        };
        let done = done.and_then(|()| match &self.releases {
            Some(releases) if watching => handle.enable(releases),
            Some(releases) => handle.disable(releases),
            None => Ok(()),
        });
        match done {
            Ok(()) => self.watching = watching,
            // It stays as it is, which costs wake-ups or, the other way round, ends with the next picture.
            Err(error) => tracing::error!("cannot change what the loop watches: {error}"),
        }
    }
}
