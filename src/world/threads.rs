//! The threads that grade.

use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::{io, thread};

use rayon::{ThreadBuilder, ThreadPoolBuilder};

use super::env::Env;
use crate::model::InputLimit;

/// The stack of every thread that reads files of people, in bytes. It holds the deepest JSON, YAML and expressions that are read.
pub const STACK: usize = 8 * 1024 * 1024;

/// Starts the threads that grade: as many as there are cores, or as `RAYON_NUM_THREADS` says up to a limit, because starting very many
/// takes minutes. If the machine starts fewer, for want of memory or by a limit of its processes, these grade, else the main thread
/// alone. Rayon's own start ends the process then.
pub fn start_threads(env: &Env) {
    let wanted = env
        .get("RAYON_NUM_THREADS")
        .and_then(|text| text.trim().parse().ok())
        .filter(|wanted| *wanted > 0);
    let wanted: usize = wanted
        .unwrap_or_else(|| thread::available_parallelism().map_or(1, usize::from))
        .min(InputLimit::THREADS.count());
    let (hand_over, handed) = channel::<ThreadBuilder>();
    let handed = Arc::new(Mutex::new(handed));
    let mut started = 0;
    while started < wanted && start_thread(Arc::clone(&handed)) {
        started += 1;
    }
    // The pool is new, so an error is impossible; without it, rayon would start its own.
    let _ = if started == 0 {
        ThreadPoolBuilder::new()
            .num_threads(1)
            .use_current_thread()
            .build_global()
    } else {
        ThreadPoolBuilder::new()
            .num_threads(started)
            .spawn_handler(|part| {
                hand_over
                    .send(part)
                    .map_err(|_| io::ErrorKind::BrokenPipe.into())
            })
            .build_global()
    };
}

/// Starts a thread that waits for its part of the pool; returns whether that was possible.
fn start_thread(handed: Arc<Mutex<Receiver<ThreadBuilder>>>) -> bool {
    let started = thread::Builder::new().stack_size(STACK).spawn(move || {
        // The lock is held while waiting: each thread takes one part of the pool, in any order.
        let part = handed.lock().unwrap_or_else(PoisonError::into_inner).recv();
        if let Ok(part) = part {
            part.run();
        }
    });
    started.is_ok()
}
