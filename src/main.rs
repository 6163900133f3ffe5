//! Builds the real world, does what was asked, exits: nothing else.

use std::process::ExitCode;

use goldgate::app;
use goldgate::world::World;

fn main() -> ExitCode {
    ExitCode::from(app::main(&World::of_process()))
}
