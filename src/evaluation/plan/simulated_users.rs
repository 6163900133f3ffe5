//! Checks that the users that models play are played by models.

use super::LoadedSuite;
use crate::diag::{Code, Diagnostic, Diagnostics, nearest};
use crate::model::{Config, Transport};

/// Refuses a case whose user is played by an unknown target, or by one that is not a model.
pub(super) fn check(loaded: &LoadedSuite, config: &Config, problems: &mut Diagnostics) {
    for pair in loaded.suite.pairs_to_run() {
        let Some((user, point)) = loaded.suite.simulated_user(pair) else {
            continue;
        };
        let name = &user.target;
        let (what, help) = match config.targets.get(name).map(|target| &target.transport) {
            Some(Transport::Model(_)) => continue,
            Some(Transport::Command { .. } | Transport::Http(_)) => {
                let what = format!(
                    "the target \"{name}\" cannot play the user, because it is not a model"
                );
                (what, "name a target with a provider".to_owned())
            }
            None => {
                let help = match nearest(name, config.targets.keys().map(String::as_str)) {
                    Some(near) => format!("did you mean \"{near}\"?"),
                    None => format!(
                        "add the model that plays the user under targets of {}",
                        config.file
                    ),
                };
                (format!("no target is called \"{name}\""), help)
            }
        };
        problems
            .push(Diagnostic::of_file(&pair.golden, Code::UNKNOWN_TARGET, what, help).at(point));
    }
}
