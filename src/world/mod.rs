//! All access to the outside: files, environment, clock, git, GitHub, live targets. No other module touches any of them.
#![expect(clippy::disallowed_methods, reason = "this module wraps them for all others")]

mod base;
mod browser;
#[cfg(feature = "github")]
mod checkout_objects;
mod clock;
mod config_place;
mod console;
mod disk;
mod draft_name;
mod drafts;
mod editor;
mod env;
mod git;
mod git_command;
mod git_history;
#[cfg(feature = "github")]
mod github;
mod ignored;
mod limited_writer;
mod object_id;
mod objects;
#[cfg(feature = "github")]
mod owner;
mod owner_access;
#[cfg(feature = "models")]
mod progress;
mod read_error;
mod read_once;
#[cfg(feature = "web")]
mod runtime;
#[cfg(feature = "models")]
mod signals;
mod swap;
#[cfg(feature = "models")]
pub mod targets;
mod threads;
#[cfg(feature = "models")]
mod traces;
#[cfg(feature = "web")]
mod web;

pub use base::BaseTree;
pub use browser::open_in_browser;
#[cfg(feature = "github")]
pub use checkout_objects::CheckoutObjects;
pub use clock::Clock;
pub use console::{Colours, Loudness, World};
pub use disk::{Disk, NoFile, append};
pub use editor::edit_file;
pub use env::{Env, Secret};
pub use git::{Git, head_commit, user_name};
pub use git_history::{FileVersion, FileVersions, HistoryExtent};
#[cfg(feature = "github")]
pub use github::Artifact;
#[cfg(feature = "github")]
pub use github::Blob;
#[cfg(feature = "github")]
pub use github::CheckRun;
#[cfg(feature = "github")]
pub use github::Conclusion;
#[cfg(feature = "github")]
pub use github::GitHub;
#[cfg(feature = "github")]
pub use github::GitHubError;
#[cfg(feature = "github")]
pub use github::GitHubRefusal;
#[cfg(feature = "github")]
pub use github::NotCommitted;
#[cfg(feature = "github")]
pub use github::OpenPull;
#[cfg(feature = "github")]
pub use github::ReadOnlyToken;
#[cfg(feature = "github")]
pub use github::RepositoryLabel;
#[cfg(feature = "github")]
pub use github::RerunScope;
#[cfg(feature = "github")]
pub use github::Tree;
#[cfg(feature = "github")]
pub use github::WorkflowRun;
#[cfg(feature = "github")]
pub use github::{BranchRules, EnvironmentUse, ImageState, QueueGrouping, RequiredCheck};
#[cfg(feature = "github")]
pub use github::{ClosedPull, MergeState, MergedPull};
#[cfg(feature = "github")]
pub use github::{CommitComparison, ComparedFile};
#[cfg(feature = "github")]
pub use github::{FileCommit, FilesCommit};
pub use objects::{Depth, Listing, NodeKind, Objects, TreeNode};
#[cfg(feature = "github")]
pub use owner::give_to_owner;
#[cfg(feature = "models")]
pub use progress::{Progress, SampleSpending};
pub use read_once::ReadOnce;
#[cfg(feature = "models")]
pub use runtime::start_runtime;
#[cfg(feature = "models")]
pub use signals::interrupted;
#[cfg(feature = "models")]
pub use signals::signal_so_far;
pub use swap::{RecordingFiles, RecordingSet};
pub use threads::{STACK, start_threads};
#[cfg(feature = "models")]
pub use traces::export;
