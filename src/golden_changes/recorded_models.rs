//! New recordings of a model that nothing in the change names. A program takes its model from its code, or from the environment of whoever
//! recorded it, which the change does not contain.

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::agent_files::agent_files;
use super::files::text;
use super::found::ChangeCollector;
use super::present_calls::PresentCalls;
use super::recording_change::{CaseSample, RecordedFile};
use super::recording_comparison::RecordingComparison;
use crate::files::{FileMatch, Files};
use crate::format::lenient;
use crate::model::{Agent, RepoPath, Weight};

impl RecordingComparison<'_> {
    /// Reports new recordings of a model of which the base commit has none, unless a changed file of the agent or the changed config names it.
    /// Where the config has the model, see [`Self::other_calls`].
    pub fn unnamed_models(&self, found: &mut ChangeCollector, after: &Agent) {
        if self
            .owner
            .calls
            .as_ref()
            .is_some_and(PresentCalls::has_model)
        {
            return;
        }
        let models = |files, recorded: Option<&RecordedFile>| models_of(files, &recorded?.file);
        let known = LazyCell::new(|| -> BTreeSet<String> {
            self.old
                .values()
                .filter_map(|recorded| models(self.sides.base, Some(recorded)))
                .flatten()
                .collect()
        });
        let mut made: BTreeMap<String, BTreeSet<&CaseSample>> = BTreeMap::new();
        for key in self.made() {
            for model in models(self.sides.head, self.new.get(key))
                .into_iter()
                .flatten()
            {
                if !known.is_empty() && !known.contains(&model) {
                    made.entry(model).or_default().insert(key);
                }
            }
        }
        if made.is_empty() {
            return;
        }
        let files = self.files_of(after);
        let cases: BTreeSet<&String> = self.old.keys().map(|(case, _)| case).collect();
        for (model, mut keys) in made {
            if files
                .iter()
                .any(|file| file.change.is_some() && file.names(&model, &known))
            {
                continue;
            }
            let unchanged = files.iter().find(|file| file.has(&model));
            // What an added case is answered with may depend on it.
            keys.retain(|key| unchanged.is_none() || cases.contains(&key.0));
            if keys.is_empty() {
                continue;
            }
            let keys: Vec<&CaseSample> = keys.into_iter().collect();
            let what = format!(
                "made with the model {model}, which no recording of the base commit has and no changed file of the agent names"
            );
            let next = match unchanged {
                Some(file) => format!("{} names it, and did not change: if the agent chose it, an approval says so", file.path),
                None => "if the agent calls it from now on, name it in one of its files, or list the file that names it under `fingerprint`; else record \
                         them with the agent's own model"
                    .to_owned(),
            };
            self.add_line(
                found,
                &keys,
                Weight::NeedsApproval,
                format!("{}; {next}", self.counted(&keys, &what)),
            );
        }
    }

    /// The files of the agent and the config.
    fn files_of(&self, after: &Agent) -> Vec<NamingFile> {
        let files = agent_files(self.sides.head, after)
            .ok()
            .flatten()
            .map(|(files, _)| files)
            .unwrap_or_default();
        let of = |path: &RepoPath| {
            let text = text(self.sides.head, path)?.text.to_lowercase();
            let is_changed = self.sides.base.likeness(path, path) != FileMatch::Same;
            let change = is_changed.then(|| {
                let before = self::text(self.sides.base, path)
                    .map_or(String::new(), |before| before.text.to_lowercase());
                let lines: BTreeSet<&str> = before.lines().collect();
                text.lines()
                    .filter(|line| !lines.contains(line))
                    .collect::<Vec<_>>()
                    .join("\n")
            });
            Some(NamingFile {
                path: path.clone(),
                text,
                change,
            })
        };
        files
            .values()
            .chain([&self.owner.config.file])
            .filter_map(of)
            .collect()
    }
}

/// A file that may name the agent's model.
struct NamingFile {
    path: RepoPath,
    /// In lower case.
    text: String,
    /// The lines that the change adds; `None` if the file is as before.
    change: Option<String>,
}

impl NamingFile {
    /// Whether the file names a model: as a whole, in the form of an identifier, or by the parts that set it apart from the known models, as where code
    /// makes the name of parts.
    fn names(&self, model: &str, known: &BTreeSet<String>) -> bool {
        let parts_of = |name: &str| -> BTreeSet<String> {
            name.split(|char: char| !char.is_alphanumeric())
                .filter(|part| tells_apart(part))
                .map(str::to_owned)
                .collect()
        };
        if self.has(model) {
            return true;
        }
        let known: BTreeSet<String> = known.iter().flat_map(|name| parts_of(name)).collect();
        let own = parts_of(model);
        let mut telling = own.difference(&known).peekable();
        let added = parts_of(self.change.as_deref().unwrap_or_default());
        telling.peek().is_some()
            && telling.all(|part| added.contains(part))
            && !self.has_longer(model)
    }

    /// Whether the file has the name as a whole. `m-5` is not in `m-5-mini`.
    fn has(&self, model: &str) -> bool {
        self.families().any(|name| name == model)
    }

    /// Whether the file names another model that begins with this name.
    fn has_longer(&self, model: &str) -> bool {
        self.families().any(|name| {
            name.strip_prefix(model)
                .is_some_and(|rest| rest.starts_with('-'))
        })
    }

    fn families(&self) -> impl Iterator<Item = String> {
        let is_between =
            |char: char| !char.is_alphanumeric() && !['-', '.', '_', '@', ':', '/'].contains(&char);
        self.text
            .split(is_between)
            .map(|name| family(name.trim_end_matches(['.', ':'])))
    }
}

/// Whether a part of a name is more than a number of one digit, which may be anything.
fn tells_apart(part: &str) -> bool {
    part.len() > 1 || part.bytes().any(|byte| byte.is_ascii_alphabetic())
}

/// The models that a recording was made with, without their versions: those that its requests name, else the one that it states.
fn models_of(files: &dyn Files, recording: &RepoPath) -> Option<BTreeSet<String>> {
    let run = lenient::whole(&files.text(recording).ok()?.text)?;
    let exchanges = run["intermediate"]["exchanges"]
        .as_array()
        .into_iter()
        .flatten();
    let asked_of = |exchange: &'_ Value| {
        let deployment = exchange
            .pointer("/request/path")
            .and_then(Value::as_str)
            .and_then(deployment);
        deployment.or_else(|| {
            Some(
                exchange
                    .pointer("/request/body/model")?
                    .as_str()?
                    .to_owned(),
            )
        })
    };
    let asked: BTreeSet<String> = exchanges.filter_map(asked_of).collect();
    let stated = run["provenance"]["model"]
        .as_str()
        .filter(|_| asked.is_empty());
    Some(
        asked
            .iter()
            .map(String::as_str)
            .chain(stated)
            .map(family)
            .collect(),
    )
}

/// The deployment that the path of a request names, as Azure has it in place of a model.
fn deployment(path: &str) -> Option<String> {
    let (_, rest) = path.split_once("/deployments/")?;
    rest.split(['/', '?'])
        .next()
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
}

/// The name of a model without its vendor and its date or version, in lower case. What follows a date and does not name a version of it, such as the name
/// of a fine-tuned model, stays.
fn family(model: &str) -> String {
    let name = model
        .rsplit_once('/')
        .map_or(model, |(_, name)| name)
        .to_lowercase();
    if name.starts_with("ft:") {
        return name;
    }
    let is_version = |part: &str| {
        part == "latest" || (part.len() >= 3 && part.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let is_of_date =
        |part: Option<&str>| part.is_some_and(|part| part.len() == 2 && part.parse::<u8>().is_ok());
    let version = name.match_indices(['-', '@', ':']).find(|(at, _)| {
        let mut parts = name[at + 1..].split(['-', '@', ':']);
        let first = parts.next();
        // A year may be left out of a date.
        first.is_some_and(is_version) || (is_of_date(first) && is_of_date(parts.next()))
    });
    let Some((at, _)) = version else { return name };
    let is_kept = |part: &&str| {
        let is_numbered = |part: &str| {
            part.trim_start_matches('v')
                .bytes()
                .all(|byte| byte.is_ascii_digit())
        };
        !is_numbered(part) && !["latest", "preview", "exp"].contains(part)
    };
    let kept = name[at + 1..].split(['-', '@', ':']).filter(is_kept);
    std::iter::once(&name[..at])
        .chain(kept)
        .collect::<Vec<_>>()
        .join("-")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{NamingFile, deployment, family};
    use crate::model::RepoPath;

    #[test]
    fn a_version_is_no_other_model() {
        for (model, expected) in [
            ("m-big", "m-big"),
            ("m-big-2026-01-01", "m-big"),
            ("m-big-20260101", "m-big"),
            ("m-big@001", "m-big"),
            ("vendor/M-Big:latest", "m-big"),
            ("m-4-70b", "m-4-70b"),
            ("m-4-0613-preview", "m-4"),
            ("m-4-1106-vision-preview", "m-4-vision"),
            (
                "ft:m-4o-2024-07-18:acme:Support-v2",
                "ft:m-4o-2024-07-18:acme:support-v2",
            ),
            ("vendor.m-3-5-20241022-v2:0", "vendor.m-3-5"),
            ("m-preview-04-17", "m-preview"),
            ("m-3-70", "m-3-70"),
            ("m-", "m-"),
            ("", ""),
        ] {
            assert_eq!(family(model), expected, "{model}");
        }
    }

    #[test]
    fn code_may_make_a_name_of_parts() {
        let known = BTreeSet::from(["m-x-mini".to_owned()]);
        for (added, model, expected) in [
            ("gen = \"z\"", "m-z-mini", true),
            ("model = models.m_z_mini", "m-z-mini", true),
            ("retries = 5", "m-5-mini", false),
            ("size = \"mini\"", "m-z-mini", false),
            ("answer politely", "m-z-mini", false),
            ("model = \"m-z-mini\"", "m-z", false),
            ("model = 'vendor/m-z-2026-01-01'", "m-z", true),
            ("model: m-z.", "m-z", true),
        ] {
            let (path, text) = (RepoPath::root(), added.to_owned());
            let file = NamingFile {
                path,
                change: Some(text.clone()),
                text,
            };
            assert_eq!(file.names(model, &known), expected, "{added}");
        }
    }

    #[test]
    fn a_deployment_is_in_the_path() {
        assert_eq!(
            deployment("/openai/deployments/chat/chat/completions?v=1").as_deref(),
            Some("chat")
        );
        assert_eq!(deployment("/v1/chat/completions"), None);
    }
}
