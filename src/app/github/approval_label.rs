//! The label that approves: a fresh repository does not have it, and people with the triage role cannot create it.

use crate::render::line;
use crate::world::{GitHub, RepositoryLabel, World};

const COLOR: &str = "fbca04";
/// At most 100 characters.
const DESCRIPTION: &str = "goldgate: accept the golden changes and the moved numbers of this pull request";

/// Creates the label if it is missing. A failure is only a notice: somebody can create the label by hand.
pub fn ensure_label(world: &World, github: &GitHub, name: &str) {
    let label = RepositoryLabel { name, color: COLOR, description: DESCRIPTION };
    match github.ensure_label(&label) {
        Ok(true) => world.say(&format!("goldgate: created the label {}\n", line(name, 100))),
        Ok(false) => {}
        Err(error) => {
            let what = format!("the label {} cannot be created; create it by hand", line(name, 100));
            let error = error.explained(&what, "pull-requests: write");
            world.say(&format!("::notice title=goldgate::{}\n", line(&format!("{error:#}"), 500)));
        }
    }
}
