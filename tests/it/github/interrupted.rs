//! Something goes wrong at any request of a job: a rate limit (docs, "Rate limits for the REST API": 1,000 requests an hour for a repository
//! and `GITHUB_TOKEN`), a secondary limit, a server error, a token without rights, a lost answer. Nothing gets green by it, and the next run
//! of the same job does what is left.

mod gates;
#[cfg(feature = "models")]
mod recorded;
mod written;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use libtest_mimic::Trial;

use super::standin::{Fault, Standin, State};
use crate::repository::Ran;
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("a failure at any request makes no gate green", gates::red),
        trial(
            "a failure at any request makes no gate of several pull requests green",
            gates::several,
        ),
        trial(
            "a gate that failed at any request is green by its approval when it runs again",
            gates::approved,
        ),
        trial(
            "a failure at any request makes no label count that does not",
            gates::refused,
        ),
        trial(
            "a failure at any request leaves one baseline pull request",
            written::baseline_pull,
        ),
        #[cfg(feature = "models")]
        trial(
            "a failure at any request leaves one commit of new recordings, which count",
            recorded::commits,
        ),
    ]
}

/// What goes wrong. GitHub answers 404 to a token that may not see the repository (docs, "Troubleshooting the REST API", "404 Not Found for
/// an existing resource").
const FAULTS: [Fault; 9] = [
    Fault::UsedUp(3600),
    Fault::DoneButLost,
    Fault::Always(403),
    Fault::Secondary(900),
    Fault::Limited(900),
    Fault::Always(404),
    Fault::Once(500),
    Fault::Once(403),
    // Each request is tried for seconds, so this one only is among all.
    Fault::Always(502),
];

/// A job that fails, and is then started again.
trait Play: Sync {
    fn github(&self) -> &Standin;
    /// The job.
    fn job(&self) -> Ran;
    /// What is true after a failure; `cut` names it.
    fn stopped(&self, ran: &Ran, cut: &str);
    /// What is true after the job was started again.
    fn finished(&self, ran: &Ran, cut: &str);
}

/// Plays a job with a failure at each of its requests: with one of the quick faults, or with all faults if GOLDGATE_FAULTS is `all`.
fn at_each_request<P: Play>(new: impl Fn() -> P + Sync) {
    let whole = new();
    let before = whole.github().requests().len();
    let ran = whole.job();
    whole.finished(&ran, "without a fault");
    let count = whole.github().requests().len() - before;
    assert!(count > 3, "{count} requests");
    let every = std::env::var("GOLDGATE_FAULTS").is_ok_and(|which| which == "all");
    let (kinds, faults) = if every {
        (FAULTS.len(), FAULTS.len())
    } else {
        (FAULTS.len() - 1, 1)
    };
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        // They mostly wait.
        for _ in 0..24 {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    if index >= count * faults {
                        return;
                    }
                    // Neighbours get different faults, so each fault meets every kind of request somewhere.
                    let (after, fault) = (
                        index / faults,
                        FAULTS[(index % faults + index / faults) % kinds],
                    );
                    fails(&new(), after, fault);
                }
            });
        }
    });
}

fn fails(play: &impl Play, after: usize, fault: Fault) {
    let github = play.github();
    github.interrupt_after(after, fault);
    let asked = github.requests().len() + after;
    let ran = play.job();
    let at = github.requests().get(asked).cloned().unwrap_or_default();
    let cut = format!("{fault:?} at request {after}, {at}");
    play.stopped(&ran, &cut);
    github.change(State::heal);
    play.finished(&play.job(), &cut);
}
