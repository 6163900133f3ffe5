//! Checks `judges:` of a suite: LLM judges for what rules cannot score.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::ConfigReader;
use crate::diag::{Code, nearest};
use crate::format::Step::{At, Key};
use crate::model::{InputLimit, Judge, JudgeName, LiveSource, Target};

/// Default of the kappa that a judge must exceed: "substantial" agreement starts there (Landis and Koch, 1977).
const FLOOR: f64 = 0.6;
/// Default number of votes per output.
const VOTES: u32 = 3;
const MOST_VOTES: u32 = InputLimit::VOTES.most as u32;

/// An LLM judge for what rules cannot score. It is advisory and never a gate.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JudgeForm {
    /// Name of the live target that votes.
    target: String,
    /// File that defines pass, weak and fail.
    rubric: String,
    /// Votes per output: an odd number from 1 to 15; default 3.
    votes: Option<u32>,
    /// File of human labels by the same rubric; `goldgate label --judge NAME` writes it.
    labels: Option<String>,
    /// Agreement with people (Cohen's kappa) that must be exceeded before the judge may recommend: 0 to 1; default 0.6.
    kappa: Option<f64>,
}

impl ConfigReader<'_> {
    pub(super) fn judges(
        &mut self,
        index: usize,
        forms: BTreeMap<String, JudgeForm>,
        targets: &BTreeMap<String, Target>,
    ) -> Vec<Judge> {
        forms
            .into_iter()
            .filter_map(|(name, form)| self.judge(index, &name, form, targets))
            .collect()
    }

    fn judge(
        &mut self,
        index: usize,
        name: &str,
        form: JudgeForm,
        targets: &BTreeMap<String, Target>,
    ) -> Option<Judge> {
        let base = [Key("suites"), At(index), Key("judges"), Key(name)];
        let at = |key| [&base[..], &[Key(key)]].concat();
        let JudgeForm {
            target,
            rubric,
            votes,
            labels,
            kappa,
        } = form;
        if !targets.contains_key(&target) {
            let known: Vec<&str> = targets.keys().map(String::as_str).collect();
            let help = match (nearest(&target, known.iter().copied()), known.is_empty()) {
                (_, true) => "add it under targets".to_owned(),
                (Some(near), false) => format!("did you mean \"{near}\"?"),
                (None, false) => format!("the targets are {}", known.join(", ")),
            };
            self.refuse(
                &at("target"),
                Code::UNKNOWN_TARGET,
                format!("no target is called \"{target}\""),
                help,
            );
        }
        let votes = votes.unwrap_or(VOTES);
        if votes % 2 == 0 || votes > MOST_VOTES {
            let what = format!("votes is {votes}");
            self.refuse(
                &at("votes"),
                Code::BAD_VOTES,
                what,
                format!("write an odd number from 1 to {MOST_VOTES}"),
            );
        }
        let floor = kappa.unwrap_or(FLOOR);
        if !(0.0..=1.0).contains(&floor) {
            let what = format!("kappa is {floor}");
            self.refuse(
                &at("kappa"),
                Code::BAD_NUMBER,
                what,
                "write the agreement to exceed, 0 to 1",
            );
        }
        let checked = JudgeName::new(name)
            .map_err(|bad| self.refuse(&base, Code::BAD_ID, bad.to_string(), bad.help()));
        let (rubric_at, labels_at) = (at("rubric"), at("labels"));
        Some(Judge {
            rubric: self.path(&rubric_at, &rubric),
            labels: labels.map(|path| self.path(&labels_at, &path)),
            name: checked.ok()?,
            source: LiveSource {
                target,
                critic: None,
                record: false,
                exchanges: None,
            },
            votes,
            floor,
        })
    }
}
