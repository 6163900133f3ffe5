//! The environment variables that a config may name: what belongs to the runner stays with the runner.

use super::ConfigReader;
use super::form::TargetForm;
use crate::format::yaml::Step;
use crate::format::yaml::Step::{At, Key};

/// How the names begin that a runner of GitHub sets: tokens, inputs of steps, files through which a step speaks to later ones.
const RUNNERS: [&str; 4] = ["ACTIONS_", "GITHUB_", "INPUT_", "RUNNER_"];

/// What every process has, and what is no key.
const USUAL: [&str; 13] = [
    "HOME", "HOSTNAME", "LANG", "LANGUAGE", "LOGNAME", "OLDPWD", "PATH", "PWD", "SHELL", "TERM", "TMPDIR", "TZ", "USER",
];

/// Files through which a step changes what later steps do or say.
const FILES: [&str; 6] =
    ["GITHUB_ENV", "GITHUB_OUTPUT", "GITHUB_PATH", "GITHUB_STATE", "GITHUB_STEP_SUMMARY", "GITHUB_EVENT_PATH"];

impl ConfigReader<'_> {
    /// Refuses a target whose key or region cannot be one.
    pub(super) fn variables(&mut self, target: &str, form: &TargetForm) {
        let at = |key| [Key("targets"), Key(target), Key(key)];
        if let Some(name) = &form.api_key_env {
            let what = match () {
                () if !is_name(name) => Some(format!("{name:?} is not the name of an environment variable")),
                () if is_of_runner(name) => Some(format!("api_key_env names {name}, which belongs to the runner")),
                () if USUAL.contains(&name.as_str()) || name.starts_with("LC_") => {
                    Some(format!("api_key_env names {name}, which holds no key"))
                }
                () => None,
            };
            if let Some(what) = what {
                let help = "name a variable of your own that holds the key, such as OPENAI_API_KEY";
                self.refuse(&at("api_key_env"), "bad-variable", what, help);
            }
        }
        let is_region = |region: &String| region.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        if let Some(region) = form.region.as_ref().filter(|region| !is_region(region)) {
            let what = format!("{region:?} is not a region");
            self.refuse(&at("region"), "bad-region", what, "write a region such as eu-central-1");
        }
        if form.env.is_some() && form.command.is_none() {
            let help = "remove it; only a command has an environment";
            self.refuse(&at("env"), "no-effect", "env has no effect without command", help);
        }
    }

    /// The variables that a command sees beside the usual ones.
    pub(super) fn passed_on(&mut self, target: &str, names: Option<Vec<String>>) -> Vec<String> {
        let names = names.unwrap_or_default();
        for (index, name) in names.iter().enumerate() {
            let what = match () {
                () if !is_name(name) => format!("{name:?} is not the name of an environment variable"),
                () if is_secret_of_runner(name) => {
                    format!("env names {name}, which would let the program act as the runner")
                }
                () => continue,
            };
            let at: [Step<'_>; 4] = [Key("targets"), Key(target), Key("env"), At(index)];
            self.refuse(&at, "bad-variable", what, "name variables that the program needs, such as AGENT_URL");
        }
        names
    }
}

fn is_name(name: &str) -> bool {
    let starts = name.starts_with(|char: char| char.is_ascii_alphabetic() || char == '_');
    starts && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn is_of_runner(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    RUNNERS.iter().any(|family| name.starts_with(family))
}

/// Tokens, inputs of steps, and the files through which a step speaks to later ones. What merely tells where a job runs, such as
/// `GITHUB_SHA`, may be passed on.
fn is_secret_of_runner(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    let families = upper.starts_with("ACTIONS_") || upper.starts_with("INPUT_");
    families || FILES.contains(&upper.as_str()) || (is_of_runner(name) && upper.contains("TOKEN"))
}
