//! Checks the environment variables that a config names: those of the CI runner are refused.

use super::ConfigReader;
use super::form::TargetForm;
use crate::diag::Code;
use crate::format::Step;
use crate::format::Step::{At, Key};

/// Name prefixes of variables that a GitHub runner sets: tokens, step inputs, files for later steps.
const RUNNERS: [&str; 4] = ["ACTIONS_", "GITHUB_", "INPUT_", "RUNNER_"];

/// Variables that every process has and that contain no key.
const USUAL: [&str; 13] = [
    "HOME", "HOSTNAME", "LANG", "LANGUAGE", "LOGNAME", "OLDPWD", "PATH", "PWD", "SHELL", "TERM",
    "TMPDIR", "TZ", "USER",
];

/// Files through which a step affects later steps or their output.
const FILES: [&str; 6] = [
    "GITHUB_ENV",
    "GITHUB_OUTPUT",
    "GITHUB_PATH",
    "GITHUB_STATE",
    "GITHUB_STEP_SUMMARY",
    "GITHUB_EVENT_PATH",
];

impl ConfigReader<'_> {
    /// Refuses a target with an invalid key variable or region.
    pub(super) fn variables(&mut self, target: &str, form: &TargetForm) {
        let at = |key| [Key("targets"), Key(target), Key(key)];
        if let Some(name) = &form.api_key_env {
            let what = match () {
                () if !is_name(name) => Some(format!(
                    "{name:?} is not the name of an environment variable"
                )),
                () if is_of_runner(name) => Some(format!(
                    "api_key_env names {name}, which belongs to the runner"
                )),
                () if USUAL.contains(&name.as_str()) || name.starts_with("LC_") => {
                    Some(format!("api_key_env names {name}, which contains no key"))
                }
                () => None,
            };
            if let Some(what) = what {
                let help = "use your own variable with the key, such as OPENAI_API_KEY";
                self.refuse(&at("api_key_env"), Code::BAD_VARIABLE, what, help);
            }
        }
        let is_region = |region: &String| {
            region
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        };
        if let Some(region) = form.region.as_ref().filter(|region| !is_region(region)) {
            let what = format!("{region:?} is not a region");
            self.refuse(
                &at("region"),
                Code::BAD_REGION,
                what,
                "write a region such as eu-central-1",
            );
        }
        if form.capture.is_some() && form.command.is_none() {
            let help = "remove it; capture applies only to command";
            self.refuse(
                &at("capture"),
                Code::NO_EFFECT,
                "capture has no effect without command",
                help,
            );
        }
        if form.env.is_some() && form.command.is_none() {
            let help = "remove it; env applies only to command";
            self.refuse(
                &at("env"),
                Code::NO_EFFECT,
                "env has no effect without command",
                help,
            );
        }
    }

    /// The variables that a command gets in addition to the default ones.
    pub(super) fn passed_on(&mut self, target: &str, names: Option<Vec<String>>) -> Vec<String> {
        let names = names.unwrap_or_default();
        for (index, name) in names.iter().enumerate() {
            let what = match () {
                () if !is_name(name) => {
                    format!("{name:?} is not the name of an environment variable")
                }
                () if is_secret_of_runner(name) => {
                    format!("env names {name}, which would let the program act as the runner")
                }
                () => continue,
            };
            let at: [Step<'_>; 4] = [Key("targets"), Key(target), Key("env"), At(index)];
            self.refuse(
                &at,
                Code::BAD_VARIABLE,
                what,
                "list variables that the program needs, such as AGENT_URL",
            );
        }
        names
    }
}

fn is_name(name: &str) -> bool {
    let starts = name.starts_with(|char: char| char.is_ascii_alphabetic() || char == '_');
    starts
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn is_of_runner(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    RUNNERS.iter().any(|family| name.starts_with(family))
}

/// Whether the variable is a token, a step input, or a file for later steps. Variables that only describe the job, such as `GITHUB_SHA`,
/// may be passed on.
fn is_secret_of_runner(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    let families = upper.starts_with("ACTIONS_") || upper.starts_with("INPUT_");
    families || FILES.contains(&upper.as_str()) || (is_of_runner(name) && upper.contains("TOKEN"))
}
