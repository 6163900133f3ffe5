//! The prompts for a reviser and a critic: the documents as RTF source, and the instructions.

use rtf::portable;
use serde_json::{Map, Value, json};

use super::fault::Criterion;
use super::scoring::Scoring;
use crate::diag::Diagnostic;
use crate::files::Files;
use crate::format::json;
use crate::model::{AnswerForm, Ask, RepoPath, Role};
use crate::suites::shared::asking::{Prompt, list, number, object, one_of, text, whole, yes_or_no};
use crate::suites::shared::case_files::golden_text;
use crate::suites::shared::case_frame::FRAME;

/// Keys of the instructions that only the grading uses; agents do not see them, nor those of the frame.
const OF_THE_GRADING: [&str; 3] = ["acceptance_criteria", "allowed_changes", "rule"];

/// Builds the request for the case with this golden file.
pub fn ask(
    golden: &RepoPath,
    role: Role,
    scoring: &Scoring,
    files: &dyn Files,
) -> Result<Ask, Diagnostic> {
    let task = RevisionTask::open(golden, files)?;
    match role {
        Role::Actor => Ok(task.to_revise()),
        Role::Critic => {
            let revised = portable(&files.bytes(&golden.parent().child("revised.rtf"))?);
            Ok(task.to_judge(&revised, 1, scoring))
        }
    }
}

/// The parts of a case that agents see.
pub struct RevisionTask {
    file: RepoPath,
    original: String,
    instructions: Value,
}

/// A rejected attempt, as shown to the actor.
pub struct FailedAttempt<'a> {
    /// Its number, from 1.
    pub number: usize,
    /// The document; `None` if none was readable.
    pub document: Option<&'a str>,
    pub evaluation: Option<&'a Value>,
}

impl RevisionTask {
    /// Reads the parts of a case that agents see.
    pub fn open(golden: &RepoPath, files: &dyn Files) -> Result<Self, Diagnostic> {
        let mut instructions: Map<String, Value> = json::golden(&golden_text(files, golden)?)?;
        instructions.retain(|key, _| {
            let key = key.as_str();
            !OF_THE_GRADING.contains(&key) && !FRAME.contains(&key)
        });
        let file = golden.parent().child("original.rtf");
        let original = portable(&files.bytes(&file)?);
        Ok(Self {
            file,
            original,
            instructions: Value::Object(instructions),
        })
    }

    fn prompt_text(&self) -> String {
        format!("The instructions, as JSON:\n{:#}", self.instructions)
    }

    fn inputs(&self) -> Value {
        json!({"file": self.file.to_string(), "original": self.original, "instructions": self.instructions})
    }

    pub fn to_revise(&self) -> Ask {
        let prompt = revise()
            .say(&self.prompt_text())
            .show(&[("The contract, as RTF source", &self.original)]);
        Ask::plain(prompt.text(), self.inputs(), Some(revision()))
    }

    /// The request for another revision after a rejected one.
    pub fn to_revise_again(&self, failed: &FailedAttempt<'_>) -> Ask {
        let FailedAttempt {
            number,
            document,
            evaluation,
        } = failed;
        let judged = evaluation.map(|value| {
            value
                .as_str()
                .map_or_else(|| format!("{value:#}"), str::to_owned)
        });
        let say = match (document, &judged) {
            (None, _) => "No RTF document could be read from your last answer.",
            (Some(_), None) => "Your last revision was not found satisfactory.",
            (Some(_), Some(_)) => {
                "A critic judged your last revision and is not satisfied. Mend what it blames, as far as the instructions ask for \
                 it, and keep what is right."
            }
        };
        let mut shown = vec![("The contract, as RTF source", self.original.as_str())];
        shown.extend(document.map(|document| ("Your last revision, as RTF source", document)));
        shown.extend(
            judged
                .as_deref()
                .map(|text| ("What the critic said of it", text)),
        );
        let mut inputs = self.inputs();
        inputs["attempt"] = json!(number + 1);
        inputs["previous"] = json!({"document": document, "evaluation": evaluation});
        let prompt = revise().say(say).say(&self.prompt_text()).show(&shown);
        Ask::plain(prompt.text(), inputs, Some(revision()))
    }

    /// The request for an evaluation of a revision; `attempt` counts from 1.
    pub fn to_judge(&self, revised: &str, attempt: usize, scoring: &Scoring) -> Ask {
        let shown = [
            ("The original, as RTF source", &*self.original),
            ("The revised contract, as RTF source", revised),
        ];
        let mut inputs = self.inputs();
        inputs["revised"] = json!(revised);
        if attempt > 1 {
            inputs["attempt"] = json!(attempt);
        }
        let prompt = judge(scoring, attempt)
            .say(&self.prompt_text())
            .show(&shown);
        Ask::plain(prompt.text(), inputs, Some(evaluation()))
    }
}

fn revise() -> Prompt {
    Prompt::of("Revise a contract as instructed. The contract is the source of an RTF document.")
        .say(
            "Give the whole source of the revised document back. Replace every name everywhere, also in headers, footers and \
             tables; renumber and mend cross-references where clauses come or go; leave everything else as it is, the format \
             too.",
        )
        .say("Answer with one JSON object: {\"document\": \"…\"}, with the RTF source as a JSON text.")
}

fn revision() -> AnswerForm {
    AnswerForm {
        name: "revision",
        schema: object([("document", text())]),
    }
}

fn judge(scoring: &Scoring, attempt: usize) -> Prompt {
    let Scoring {
        weights,
        penalties,
        quality_gate,
        ..
    } = scoring;
    let weighed: Vec<String> = Criterion::ALL
        .iter()
        .zip(weights)
        .map(|(criterion, weight)| format!("{} {weight}", criterion.as_str()))
        .collect();
    Prompt::of("Judge whether a contract was revised as instructed. Both documents are the source of RTF documents.")
        .say(&format!(
            "Score five criteria from 0 to 1; overall_score is their weighted sum ({}), less the deductions: {} once for broken \
             cross-references, {} for each old name that is left, {} once for an indemnity that goes the wrong way, {} for each \
             orphaned clause or definition, {} once for a damaged format. satisfied is true from {quality_gate} on, unless a \
             failure is critical.",
            weighed.join(", "),
            penalties.broken_reference,
            penalties.missing_entity,
            penalties.liability_direction,
            penalties.orphan,
            penalties.rtf_corruption,
        ))
        .say(&format!(
            "Answer with one JSON object: {{\"overall_score\", \"criteria_scores\": {{one number for each criterion}}, \"satisfied\", \
             \"unmet_criteria\": [], \"feedback\", \"attempt_number\": {attempt}, \"revision_suggestions\": [{{\"reason\", \
             \"target_section\", \"action\", \"instruction\", \"text_to_insert\", \"constraints\": []}}], \"red_flags\": []}}."
        ))
}

fn evaluation() -> AnswerForm {
    let words = Criterion::ALL.map(Criterion::as_str);
    let suggestion = object([
        ("reason", text()),
        ("target_section", text()),
        ("action", one_of(["add", "delete", "replace", "edit"])),
        ("instruction", text()),
        ("text_to_insert", text()),
        ("constraints", list(&text())),
    ]);
    let schema = object([
        ("overall_score", number()),
        (
            "criteria_scores",
            object(words.map(|word| (word, number()))),
        ),
        ("satisfied", yes_or_no()),
        ("unmet_criteria", list(&one_of(words))),
        ("feedback", text()),
        ("attempt_number", whole()),
        ("revision_suggestions", list(&suggestion)),
        ("red_flags", list(&text())),
    ]);
    AnswerForm {
        name: "evaluation",
        schema,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{FailedAttempt, RevisionTask};
    use crate::model::RepoPath;
    use crate::suites::kinds::revision::scoring::Scoring;

    fn task() -> RevisionTask {
        let file = RepoPath::root().child("original.rtf");
        RevisionTask {
            file,
            original: "{\\rtf1 Price}".to_owned(),
            instructions: json!({"allowed_changes": ["7.9"]}),
        }
    }

    #[test]
    fn every_prompt_contains_the_instructions_and_the_contract() {
        let before = FailedAttempt {
            number: 1,
            document: Some("{\\rtf1 Term}"),
            evaluation: None,
        };
        let judged = task().to_judge("{\\rtf1 Term}", 1, &Scoring::default());
        for ask in [task().to_revise(), task().to_revise_again(&before), judged] {
            assert!(
                ask.prompt.contains("\"7.9\"") && ask.prompt.contains("{\\rtf1 Price}"),
                "{}",
                ask.prompt
            );
        }
    }

    #[test]
    fn a_critic_sees_the_attempt_number_from_the_second_on() {
        let attempt_number = |attempt| {
            task()
                .to_judge("{\\rtf1 Term}", attempt, &Scoring::default())
                .inputs["attempt"]
                .clone()
        };
        assert_eq!(
            [attempt_number(1), attempt_number(2), attempt_number(3)],
            [Value::Null, json!(2), json!(3)]
        );
    }
}
