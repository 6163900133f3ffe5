//! What an agent calls, on both sides: a recording was made with it, as with the files of the agent.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::recording_use::RecordingUse;
use crate::format::called_target::{is_full_name, target_digest};
use crate::format::lenient;
use crate::model::{
    Agent, Config, LiveSource, RECORDED_COMMAND, RecordPolicy, RunSource, Target, Transport,
};

/// The targets of the base commit that are called otherwise now. Recordings that name them were made with something else.
#[derive(Debug, Default)]
pub struct ChangedTargets {
    /// What changed, by the target that recordings name.
    own: BTreeMap<String, ChangedTarget>,
    /// The targets of the base commit. A recording that names none of them, as one from before a target got another name, is of the agent's
    /// present target if its model is.
    known: BTreeSet<String>,
    /// The agent's own target, if it changed or is called again.
    present: Option<String>,
    /// What changed of all targets: any may play the user of a conversation.
    users: BTreeMap<String, ChangedTarget>,
    /// The digests of what the agent calls on the base commit and now.
    digests: [Option<String>; 2],
}

#[derive(Debug)]
struct ChangedTarget {
    /// What recordings were made with, and why that is another one now, for messages.
    what: String,
    /// The models of both commits; `None` for a program or a server.
    before: Option<String>,
    now: Option<String>,
    recordings: ChangedRecordings,
}

/// Which recordings of the base commit are concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ChangedRecordings {
    All,
    /// The agent calls the target again: those that state another model than it has.
    OfAnotherModel,
    /// The agent calls a program or a server again that the base commit does not have: those that name it.
    OfTheSameName,
    /// The agent calls a target again, and this is another one of the base commit: those that name it.
    OfAnotherTarget,
}

/// On which commit a recording is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordedOn {
    Base,
    /// On the head alone: it may have been made before the change or after it, and only its model shows which.
    HeadAlone,
}

impl ChangedTargets {
    /// Compares what an agent of both configs calls in the model tier, by what is called in each role and not by its name. Where it calls
    /// nothing on one of the sides, its recordings still name targets, so those of the same name are compared.
    pub fn of((base, before): (&Config, &Agent), (head, after): (&Config, &Agent)) -> Self {
        let (old, new) = (live(before), live(after));
        let own: BTreeMap<String, ChangedTarget> = match (old, new) {
            (Some(old), Some(new)) => of_roles((base, old), (head, new)),
            (Some(old), None) => of_names(base, head, old.targets()),
            (None, Some(new)) => {
                let mut again = called_again(base, head, new);
                again.append(&mut never_called(base, head, new));
                again.append(&mut of_names(base, head, new.targets()));
                again
            }
            (None, None) => of_names(base, head, base.targets.keys()),
        };
        let users = of_names(base, head, base.targets.keys());
        let present = old
            .or(new)
            .map(|live| live.target.clone())
            .filter(|target| own.contains_key(target));
        let digest = |config: &Config, live: Option<&LiveSource>| {
            config.targets.get(&live?.target).map(target_digest)
        };
        let digests = [digest(base, old), digest(head, new)];
        Self {
            own,
            known: base.targets.keys().cloned().collect(),
            present,
            users,
            digests,
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        let [before, now] = &self.digests;
        self.own.is_empty() && self.users.is_empty() && before == now
    }

    /// Whether the agent's own target or critic is the same on both sides.
    pub fn keeps_own(&self) -> bool {
        self.own.is_empty()
    }

    /// The model that the agent's target had, if the target changed and has one.
    pub fn former_model(&self) -> Option<&str> {
        self.own
            .values()
            .find_map(|changed| changed.before.as_deref())
    }

    /// Whether a target that may play a user changed.
    pub fn changes_user(&self, target: &str) -> bool {
        self.users.contains_key(target)
    }

    /// What a recording was made with, if that is another one now. `user` returns the target that plays the user of its case. One that answers
    /// the calls of the agent's code is only of its user: the code runs again.
    pub fn made(
        &self,
        recording: &str,
        on: RecordedOn,
        used: RecordingUse,
        user: impl Fn() -> Option<String>,
    ) -> Option<OtherMaker> {
        let run = lenient::whole(recording)?;
        let own = match used {
            RecordingUse::Graded => self.made_with(&run, on),
            RecordingUse::AnswersCalls => None,
        };
        let other_user = || {
            let model = run["outputs"]["user"]["model"].as_str()?;
            self.users
                .get(&user()?)
                .filter(|changed| changed.concerns(Some(model), on))?;
            let what = format!("{model} as the user, which has changed since");
            Some(OtherMaker {
                what,
                certainty: Certainty::Stated,
            })
        };
        own.or_else(other_user)
    }

    /// The target that made a recording by its digest, which is not that of the agent's target.
    fn other_target(&self, target: Option<&str>) -> OtherMaker {
        let what = match (target.and_then(|target| self.own.get(target)), target) {
            (Some(changed), _) => changed.what.clone(),
            (None, Some(target)) => {
                format!("the target {target}, while the agent calls something else now")
            }
            (None, None) => "another target".to_owned(),
        };
        OtherMaker {
            what,
            certainty: Certainty::Stated,
        }
    }

    /// The target that made a recording, if the agent calls something else now.
    fn made_with(&self, run: &Value, on: RecordedOn) -> Option<OtherMaker> {
        let stated = &run["provenance"];
        let model = stated["model"].as_str();
        let target = stated["target"].as_str();
        if let (Some(made), [before, Some(now)]) = (stated["target_sha256"].as_str(), &self.digests)
            && before.as_ref() != Some(now)
        {
            return (made != now).then(|| self.other_target(target));
        }
        let own = match target.filter(|target| self.known.contains(*target)) {
            Some(known) => self
                .own
                .get(known)
                .filter(|changed| changed.concerns(model, on)),
            None => {
                let present = self
                    .present
                    .as_deref()
                    .or(target)
                    .and_then(|present| self.own.get(present));
                present.filter(|changed| {
                    changed.concerns_unknown(self.present.as_deref(), (target, model), on)
                })
            }
        };
        let certainty = |changed: &ChangedTarget| match (changed.recordings, target) {
            (ChangedRecordings::OfTheSameName | ChangedRecordings::OfAnotherTarget, _) => {
                Certainty::Supposed
            }
            (_, Some(RECORDED_COMMAND)) => Certainty::Supposed,
            (ChangedRecordings::All | ChangedRecordings::OfAnotherModel, _) => Certainty::Stated,
        };
        own.map(|changed| OtherMaker {
            what: changed.what.clone(),
            certainty: certainty(changed),
        })
    }
}

/// What a recording was made with, if that is another one now.
#[derive(Debug, PartialEq, Eq)]
pub struct OtherMaker {
    /// What it is, and why that is another one now.
    pub what: String,
    pub certainty: Certainty,
}

/// Whether a recording states what it was made with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Certainty {
    /// It does, so it is expected to be made again.
    Stated,
    /// It may have been made with it. That is a doubt about an old recording, and no reason for a new one.
    Supposed,
}

impl ChangedTarget {
    fn concerns(&self, recorded: Option<&str>, on: RecordedOn) -> bool {
        match (on, self.recordings) {
            (
                RecordedOn::Base,
                ChangedRecordings::All
                | ChangedRecordings::OfTheSameName
                | ChangedRecordings::OfAnotherTarget,
            ) => true,
            (RecordedOn::HeadAlone, _) | (_, ChangedRecordings::OfAnotherModel) => {
                recorded.is_some_and(|full| self.is_of_before(full))
            }
        }
    }

    /// The same for a recording that names no target of the base commit. One that `goldgate record` made of a command is of the agent's own
    /// program. One that was imported, or states nothing, may be of anything, and changed targets of the model tier are only listed.
    fn concerns_unknown(
        &self,
        present: Option<&str>,
        (target, model): (Option<&str>, Option<&str>),
        on: RecordedOn,
    ) -> bool {
        match (self.recordings, on) {
            (ChangedRecordings::OfTheSameName, _) => {
                on == RecordedOn::Base && target.is_some() && target == present
            }
            // A model's settings say nothing of a program.
            (ChangedRecordings::All, RecordedOn::Base) if target == Some(RECORDED_COMMAND) => {
                self.before.is_none()
            }
            (
                ChangedRecordings::All
                | ChangedRecordings::OfAnotherModel
                | ChangedRecordings::OfAnotherTarget,
                _,
            ) => self.concerns(model, RecordedOn::HeadAlone),
        }
    }

    /// Whether a model is the one before and not the present one.
    fn is_of_before(&self, full: &str) -> bool {
        let fits = |model: &Option<String>| {
            model
                .as_ref()
                .is_some_and(|model| is_full_name(full, model))
        };
        match self.recordings {
            ChangedRecordings::OfAnotherModel => !fits(&self.now),
            ChangedRecordings::All
            | ChangedRecordings::OfTheSameName
            | ChangedRecordings::OfAnotherTarget => fits(&self.before) && !fits(&self.now),
        }
    }
}

pub fn live(agent: &Agent) -> Option<&LiveSource> {
    agent.model.as_ref().and_then(RunSource::live)
}

/// The role in which an agent calls something else. Recordings name the target of the agent, also where its critic changed.
fn of_roles(
    (base, old): (&Config, &LiveSource),
    (head, new): (&Config, &LiveSource),
) -> BTreeMap<String, ChangedTarget> {
    let called = |config: &Config| config.targets.get(&old.target).map(calls);
    let what = match old.target != new.target && called(base) == called(head) {
        true => format!(
            "the target {}, while the agent calls {}",
            old.target, new.target
        ),
        false => changed_target(&old.target),
    };
    let target = (what, &old.target, Some(&new.target));
    let critic = match (&old.critic, &new.critic) {
        (Some(before), now) => Some((
            format!("the critic {before}, which has changed since"),
            before,
            now.as_ref(),
        )),
        (None, Some(_)) => Some(("a loop without a critic".to_owned(), &old.target, None)),
        (None, None) => None,
    };
    let is_other = |(_, before, now): &(String, &String, Option<&String>)| {
        let now = now.and_then(|now| head.targets.get(now)).map(calls);
        base.targets
            .get(*before)
            .is_some_and(|target| Some(calls(target)) != now)
    };
    let changed = [Some(target), critic].into_iter().flatten().find(is_other);
    let changed = changed.map(|(what, before, now)| {
        let changed = ChangedTarget {
            what,
            before: base.targets.get(before).and_then(model),
            now: now.and_then(|now| head.targets.get(now)).and_then(model),
            recordings: ChangedRecordings::All,
        };
        (old.target.clone(), changed)
    });
    changed.into_iter().collect()
}

fn changed_target(name: &str) -> String {
    format!("the target {name}, which has changed since")
}

/// The targets that have the same name on both sides and are called otherwise.
fn of_names<'a>(
    base: &Config,
    head: &Config,
    names: impl Iterator<Item = &'a String>,
) -> BTreeMap<String, ChangedTarget> {
    let both =
        names.filter_map(|name| Some((name, base.targets.get(name)?, head.targets.get(name)?)));
    let changed = both.filter(|(_, before, now)| calls(before) != calls(now));
    let of = |(name, before, now): (&String, &Target, &Target)| {
        let (before, now, recordings) = (model(before), model(now), ChangedRecordings::All);
        (
            name.clone(),
            ChangedTarget {
                what: changed_target(name),
                before,
                now,
                recordings,
            },
        )
    };
    changed.map(of).collect()
}

/// What an agent calls and did not call on the base commit. Its recordings may be of the time before.
fn called_again(base: &Config, head: &Config, new: &LiveSource) -> BTreeMap<String, ChangedTarget> {
    let called = new
        .targets()
        .filter_map(|name| Some((name, head.targets.get(name)?)));
    let of = |(name, target): (&String, &Target)| {
        let now = model(target);
        let (what, recordings) = match now.is_some() {
            true => (changed_target(name), ChangedRecordings::OfAnotherModel),
            // Those of one name are compared.
            false if base.targets.contains_key(name) => return None,
            false => (
                format!("the target {name}, which the base commit does not have"),
                ChangedRecordings::OfTheSameName,
            ),
        };
        Some((
            name.clone(),
            ChangedTarget {
                what,
                before: None,
                now,
                recordings,
            },
        ))
    };
    called.filter_map(of).collect()
}

/// The targets of the base commit that are called otherwise than the agent's, which calls nothing there: recordings that name one were made
/// with another target than its own.
fn never_called(base: &Config, head: &Config, new: &LiveSource) -> BTreeMap<String, ChangedTarget> {
    let Some(own) = head.targets.get(&new.target) else {
        return BTreeMap::new();
    };
    let others = base
        .targets
        .iter()
        .filter(|(name, other)| **name != new.target && calls(other) != calls(own));
    let of = |(name, other): (&String, &Target)| {
        let what = format!("the target {name}, while the agent calls {}", new.target);
        let (before, now, recordings) =
            (model(other), model(own), ChangedRecordings::OfAnotherTarget);
        (
            name.clone(),
            ChangedTarget {
                what,
                before,
                now,
                recordings,
            },
        )
    };
    others.map(of).collect()
}

/// A target without what does not change its answers: limits, the name of its key, and who may call it.
pub fn calls(target: &Target) -> Target {
    let mut transport = target.transport.clone();
    if let Transport::Model(provider) = &mut transport {
        provider.api_key_env = None;
    }
    Target {
        transport,
        concurrency: None,
        timeout: None,
        stall: None,
        record: RecordPolicy::default(),
    }
}

pub fn model(target: &Target) -> Option<String> {
    match &target.transport {
        Transport::Model(provider) => Some(provider.model.clone()),
        Transport::Command { .. } | Transport::Http(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{ChangedTargets, RecordedOn, RecordingUse};
    use crate::files::SourceText;
    use crate::model::{Config, RepoPath};
    use crate::suites::read_config;

    fn config(live: &str, writer: &str, judge: &str) -> Config {
        let target =
            |model: &str| format!("{{ provider: openai, model: {model}, api_key_env: KEY }}");
        let text = format!(
            "version: 1\nsuites:\n  - id: s\n    kind: revision\n    path: golden\n    agents:\n      a:\n        fingerprint: ['p/**']\n        \
             deterministic: {{ replay: runs }}\n        model: {{ {live} }}\ntargets:\n  writer: {}\n  judge: {}\n",
            target(writer),
            target(judge)
        );
        read_config(&SourceText::from_text(
            RepoPath::root().child("goldgate.yaml"),
            text,
        ))
        .expect("it is a config")
    }

    fn made(before: &Config, after: &Config) -> Option<String> {
        made_by(before, after, "writer", "big-2026-01-01", RecordedOn::Base)
    }

    fn made_by(
        before: &Config,
        after: &Config,
        target: &str,
        model: &str,
        on: RecordedOn,
    ) -> Option<String> {
        let agent = |config: &Config| {
            config.suites[0]
                .agents
                .values()
                .next()
                .cloned()
                .expect("it has an agent")
        };
        let changed = ChangedTargets::of((before, &agent(before)), (after, &agent(after)));
        let recording = json!({ "provenance": { "target": target, "model": model } });
        changed
            .made(&recording.to_string(), on, RecordingUse::Graded, || None)
            .map(|made| made.what)
    }

    #[test]
    fn a_target_is_compared_in_its_role() {
        let usual = "target: writer, critic: judge";
        let before = config(usual, "big", "tiny");
        for (live, writer, judge, expected) in [
            (usual, "big", "tiny", None),
            (
                usual,
                "tiny",
                "tiny",
                Some("the target writer, which has changed since"),
            ),
            (
                usual,
                "tiny",
                "big",
                Some("the target writer, which has changed since"),
            ),
            (
                "target: judge, critic: writer",
                "big",
                "tiny",
                Some("the target writer, while the agent calls judge"),
            ),
            ("target: judge, critic: writer", "tiny", "big", None),
            (
                usual,
                "big",
                "big",
                Some("the critic judge, which has changed since"),
            ),
            (
                usual,
                "big-mini",
                "tiny",
                Some("the target writer, which has changed since"),
            ),
            (
                "target: writer",
                "big",
                "tiny",
                Some("the critic judge, which has changed since"),
            ),
        ] {
            assert_eq!(
                made(&before, &config(live, writer, judge)).as_deref(),
                expected,
                "{live} {writer} {judge}"
            );
        }
        let loop_of = made(&config("target: writer", "big", "tiny"), &before);
        assert_eq!(loop_of.as_deref(), Some("a loop without a critic"));
    }

    #[test]
    fn the_model_decides_where_the_name_does_not() {
        let [before, after] = ["m", "m-mini"].map(|model| config("target: writer", model, "other"));
        for (target, model, on, is_old) in [
            ("writer", "m-2026-01-01", RecordedOn::HeadAlone, true),
            ("writer", "m-mini-2026-01-01", RecordedOn::HeadAlone, false),
            ("before", "m-2026-01-01", RecordedOn::Base, true),
            ("before", "m-mini", RecordedOn::Base, false),
            ("before", "else", RecordedOn::Base, false),
            ("judge", "m", RecordedOn::Base, false),
        ] {
            let made = made_by(&before, &after, target, model, on);
            assert_eq!(made.is_some(), is_old, "{target} {model} {on:?}: {made:?}");
        }
        // A pinned version that is not pinned any more is the same model.
        let pinned = config("target: writer", "m-2026-01-01", "other");
        assert_eq!(
            made_by(
                &pinned,
                &before,
                "writer",
                "m-2026-01-01",
                RecordedOn::HeadAlone
            ),
            None
        );
    }
}
