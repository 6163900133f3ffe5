//! The labels that approve and record: a fresh repository does not have them, and people with the triage role cannot create them.

use crate::github::client::{GitHub, RepositoryLabel};
use crate::render::line;
use crate::world::World;

const COLOR: &str = "fbca04";

/// What a label asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LabelPurpose {
    /// To approve a result.
    Approve,
    /// To record a pull request.
    #[cfg_attr(
        not(feature = "models"),
        expect(dead_code, reason = "nothing is recorded without live targets")
    )]
    Record,
}

impl LabelPurpose {
    /// The description on GitHub, at most 100 characters.
    fn description(self) -> &'static str {
        match self {
            Self::Approve => {
                "goldgate: accept the golden changes and the moved numbers of this pull request"
            }
            Self::Record => {
                "goldgate: record the agents of this pull request again, with the models of the base branch"
            }
        }
    }
}

/// Creates the label if it is missing. A failure is only a notice: somebody can create the label by hand.
pub fn ensure_label(world: &World, github: &GitHub, purpose: LabelPurpose, name: &str) {
    let label = RepositoryLabel {
        name,
        color: COLOR,
        description: purpose.description(),
    };
    match github.ensure_label(&label) {
        Ok(true) => world.say(&format!(
            "goldgate: created the label {}\n",
            line(name, 100)
        )),
        Ok(false) => {}
        Err(error) => {
            let message = format!(
                "the label {} cannot be created; create it by hand",
                line(name, 100)
            );
            let error = error.explained(&message, "pull-requests: write");
            world.command(&format!(
                "::notice title=goldgate::{}\n",
                line(&format!("{error:#}"), 500)
            ));
        }
    }
}
