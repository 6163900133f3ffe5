//! All access to the outside: files, environment, clock, git, console, threads.
//!
//! No other module touches any of them; live targets and GitHub's client have the network. No path and no link leads out of the
//! repository. What is printed or written has its secrets removed.
#![expect(
    clippy::disallowed_methods,
    reason = "this module wraps them for all others"
)]

mod base;
mod browser;
#[cfg(feature = "github")]
mod checkout_objects;
pub(crate) mod clock;
mod config_place;
mod console;
mod disk;
mod draft_name;
mod drafts;
mod edited;
mod editor;
pub(crate) mod env;
mod git;
mod git_command;
mod git_history;
mod ignored;
mod limited_writer;
pub(crate) mod object_id;
pub(crate) mod objects;
#[cfg(feature = "github")]
mod owner;
pub(crate) mod owner_access;
#[cfg(feature = "models")]
mod progress;
pub(crate) mod read_error;
mod read_once;
#[cfg(feature = "web")]
pub(crate) mod runtime;
#[cfg(feature = "models")]
mod signals;
mod swap;
mod threads;
#[cfg(feature = "models")]
mod traces;
#[cfg(feature = "web")]
pub(crate) mod web;

pub(crate) use base::BaseTree;
pub(crate) use browser::open_in_browser;
#[cfg(feature = "github")]
pub(crate) use checkout_objects::CheckoutObjects;
pub(crate) use console::Colours;
pub use console::World;
pub use disk::Disk;
pub(crate) use disk::{NoFile, append};
pub(crate) use editor::edit_file;
pub use env::Env;
pub(crate) use git::{Git, user_name};
pub use git::{head_commit, is_sparse};
pub(crate) use git_history::{FileVersion, FileVersions};
pub(crate) use objects::Objects;
#[cfg(feature = "github")]
pub(crate) use owner::give_to_owner;
#[cfg(feature = "models")]
pub(crate) use progress::{Progress, SampleSpending};
pub(crate) use read_once::ReadOnce;
#[cfg(feature = "models")]
pub(crate) use runtime::start_runtime;
#[cfg(feature = "models")]
pub(crate) use signals::{interrupted, signal_so_far};
pub(crate) use swap::{RecordingFiles, RecordingSet};
pub use threads::{STACK, start_threads};
#[cfg(feature = "models")]
pub use traces::export;
