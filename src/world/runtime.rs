//! The event loop for network calls and processes.

use std::io;
#[cfg(unix)]
use std::os::unix::net::UnixStream;

use tokio::runtime::{Builder, Runtime};

/// Starts an event loop on the thread that uses it.
///
/// # Errors
/// The machine lacks something: too many open files, no memory.
pub fn start_runtime() -> io::Result<Runtime> {
    #[cfg(unix)]
    has_descriptors()?;
    Builder::new_current_thread().enable_all().build()
}

/// Refuses a machine with too few file descriptors. tokio returns no error then: it panics if it cannot open the sockets of its signal
/// handler. It needs five: a queue of events, what wakes it up, a pair of sockets, and a copy of one of them.
#[cfg(unix)]
fn has_descriptors() -> io::Result<()> {
    let pairs: Vec<(UnixStream, UnixStream)> = (0..3)
        .map(|_| UnixStream::pair())
        .collect::<io::Result<_>>()?;
    drop(pairs);
    Ok(())
}
