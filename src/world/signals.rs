//! Signals that cancel a run. From the first engine run on, a signal is kept until it is queried, so that one between two phases
//! cancels the run as well.

#[cfg(unix)]
use std::pin::pin;
use std::sync::{OnceLock, mpsc};
use std::thread;

#[cfg(unix)]
use futures_util::future::select;
#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

use super::runtime::start_runtime;
use crate::model::Interruption;

type InterruptionReceiver = watch::Receiver<Option<Interruption>>;

/// The listener of this process, after the first call.
static LISTENER: OnceLock<InterruptionReceiver> = OnceLock::new();

/// Completes when a person presses Ctrl-C, the runner sends SIGTERM, or the terminal is closed (SIGHUP); at once if that happened
/// since the first call.
pub async fn interrupted() -> Interruption {
    let mut receiver = LISTENER.get_or_init(listen).clone();
    let received = match receiver.wait_for(Option::is_some).await {
        Ok(interruption) => *interruption,
        Err(_) => None,
    };
    match received {
        Some(interruption) => interruption,
        None => std::future::pending().await,
    }
}

/// The signal received since the first call of [`interrupted`], if any.
pub fn signal_so_far() -> Option<Interruption> {
    *LISTENER.get()?.borrow()
}

/// Starts a listener thread, and returns once no signal can be missed.
fn listen() -> InterruptionReceiver {
    let (sender, receiver) = watch::channel(None);
    let (ready, is_ready) = mpsc::channel();
    // Without a listener signals keep their default action, which ends the process.
    let _ = thread::Builder::new().spawn(move || {
        let Ok(runtime) = start_runtime() else { return };
        runtime.block_on(async {
            if let Ok(mut signals) = Signals::open() {
                // The receiver may be gone already.
                let _ = ready.send(());
                let _ = sender.send(Some(signals.first().await));
            }
        });
    });
    let _ = is_ready.recv();
    receiver
}

#[cfg(unix)]
struct Signals {
    pressed: Signal,
    terminated: Signal,
    hung_up: Signal,
}

#[cfg(unix)]
impl Signals {
    fn open() -> std::io::Result<Self> {
        Ok(Self {
            pressed: signal(SignalKind::interrupt())?,
            terminated: signal(SignalKind::terminate())?,
            hung_up: signal(SignalKind::hangup())?,
        })
    }

    async fn first(&mut self) -> Interruption {
        let Self {
            pressed,
            terminated,
            hung_up,
        } = self;
        let pressed = pin!(async {
            pressed.recv().await;
            Interruption::Interrupted
        });
        let terminated = pin!(async {
            terminated.recv().await;
            Interruption::Terminated
        });
        let hung_up = pin!(async {
            hung_up.recv().await;
            Interruption::HungUp
        });
        let others = pin!(async { select(terminated, hung_up).await.factor_first().0 });
        select(pressed, others).await.factor_first().0
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn open() -> std::io::Result<Self> {
        Ok(Self)
    }

    async fn first(&mut self) -> Interruption {
        match tokio::signal::ctrl_c().await {
            Ok(()) => Interruption::Interrupted,
            Err(_) => std::future::pending().await,
        }
    }
}
