//! A thread that exists only while it has work.
//!
//! The loop must not wait, so whatever may take long is a job: it runs on a thread that is made for the first job and
//! ends with the last, and its result comes back through a calloop channel. Jobs of one lane run one after the other.

use calloop::channel::Sender;
use std::{
    any::Any,
    collections::VecDeque,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Condvar, Mutex, PoisonError},
    time::Duration,
};

type Job<R> = Box<dyn FnOnce() -> R + Send>;

/// One lane of work whose results are of type `R`.
pub(crate) struct Worker<R> {
    name: &'static str,
    lane: Arc<Lane<R>>,
    results: Sender<R>,
}

struct Lane<R> {
    state: Mutex<State<R>>,
    idle: Condvar,
}

struct State<R> {
    waiting: VecDeque<Job<R>>,
    running: bool,
}

impl<R: Send + 'static> Worker<R> {
    /// A lane without a thread; `name` is what its thread will be called.
    pub(crate) fn new(name: &'static str, results: Sender<R>) -> Self {
        let state = Mutex::new(State {
            waiting: VecDeque::new(),
            running: false,
        });
        Self {
            name,
            lane: Arc::new(Lane {
                state,
                idle: Condvar::new(),
            }),
            results,
        }
    }

    /// Has a job done. `failed` makes its result if the job panics, as a decoder for pictures may on a hostile file, or
    /// cannot be run at all; it gets the reason.
    pub(crate) fn submit(
        &self,
        job: impl FnOnce() -> R + Send + 'static,
        failed: impl FnOnce(String) -> R + Send + Clone + 'static,
    ) {
        let for_panic = failed.clone();
        let job: Job<R> = Box::new(move || {
            catch_unwind(AssertUnwindSafe(job)).unwrap_or_else(|panic| {
                let reason = panic_text(panic.as_ref());
                tracing::error!("a job panicked: {reason}");
                for_panic(format!("reading it failed in an unexpected way: {reason}"))
            })
        });
        let mut state = self.lane.lock();
        state.waiting.push_back(job);
        if state.running {
            return;
        }
        let (lane, results) = (Arc::clone(&self.lane), self.results.clone());
        match std::thread::Builder::new()
            .name(self.name.to_owned())
            .spawn(move || lane.run(&results))
        {
            Ok(_) => state.running = true,
            Err(error) => {
                state.waiting.clear();
                drop(state);
                // The loop is gone only when veil ends.
                let _ = self.results.send(failed(format!("no thread for it: {error}")));
            }
        }
    }

    /// Waits until all jobs are done, at most this long; whether they are. Only for the end, when no loop runs.
    pub(crate) fn wait_idle(&self, limit: Duration) -> bool {
        let state = self.lane.lock();
        let busy = |state: &mut State<R>| state.running;
        let (state, _) = self
            .lane
            .idle
            .wait_timeout_while(state, limit, busy)
            .unwrap_or_else(PoisonError::into_inner);
        !state.running
    }
}

impl<R> Lane<R> {
    fn lock(&self) -> std::sync::MutexGuard<'_, State<R>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self, results: &Sender<R>) {
        loop {
            let job = {
                let mut state = self.lock();
                match state.waiting.pop_front() {
                    Some(job) => job,
                    None => {
                        state.running = false;
                        self.idle.notify_all();
                        return;
                    }
                }
            };
            // The loop is gone only when veil ends.
            let _ = results.send(job());
        }
    }
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no reason given")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_run_in_order_and_a_panic_is_an_answer() {
        let (sender, channel) = calloop::channel::channel();
        let worker = Worker::new("test", sender);
        worker.submit(|| "first".to_owned(), |reason| reason);
        worker.submit(|| panic!("second"), |reason: String| reason);
        worker.submit(|| "third".to_owned(), |reason| reason);
        let results: Vec<String> = (0..3).map(|_| channel.recv().unwrap()).collect();
        assert_eq!(results[0], "first");
        assert!(results[1].contains("second"));
        assert_eq!(results[2], "third");
        assert!(worker.wait_idle(Duration::from_secs(60)));
    }
}
