//! The outside, behind small doors: files, environment, clock, git, GitHub. Nothing else touches any of them.

mod clock;
mod console;
mod disk;
mod env;
mod git;

pub use clock::Clock;
pub use disk::Disk;
pub use console::World;
pub use disk::NoFile;
pub use env::Env;
pub use env::Secret;
pub use git::head_commit;
