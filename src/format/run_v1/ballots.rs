//! Reads and writes `judgements` of a run record: the votes of LLM judges on its output.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::json_lines::lines;
use crate::diag::{Code, Diagnostic};
use crate::files::SourceText;
use crate::format::json;
use crate::format::json_cursor::Fields;
use crate::model::{Ballot, JudgeName, Mark, Vote};

const KEY: &str = "judgements";

#[derive(Serialize, Deserialize)]
struct BallotForm {
    judged_sha256: String,
    rubric_sha256: String,
    target: Option<String>,
    model: Option<String>,
    votes: Vec<RunVoteForm>,
}

/// One vote: a verdict with its reason, or why it is missing.
#[derive(Serialize, Deserialize)]
struct RunVoteForm {
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<String>,
}

/// Reads the judgements of a record, by judge name.
///
/// # Errors
/// Content that goldgate never writes, with its position.
pub fn read_ballots(source: &SourceText, raw: &RawValue) -> Result<Vec<Ballot>, Diagnostic> {
    let forms: Option<BTreeMap<String, BallotForm>> =
        serde_json::from_str(raw.get()).map_err(|error| bad_judgements(source, raw, error))?;
    let mut ballots = Vec::new();
    for (name, form) in forms.unwrap_or_default() {
        let judge = JudgeName::new(&name).map_err(|bad| bad_judgements(source, raw, bad))?;
        let votes: Option<Vec<Vote>> = form.votes.into_iter().map(vote).collect();
        let Some(votes) = votes else {
            let description = "a vote needs a verdict (fail, weak or pass) and a reason";
            return Err(bad_judgements(source, raw, description));
        };
        let BallotForm {
            judged_sha256,
            rubric_sha256,
            target,
            model,
            votes: _,
        } = form;
        ballots.push(Ballot {
            judge,
            rubric_sha256,
            judged_sha256,
            target,
            model,
            votes,
        });
    }
    Ok(ballots)
}

fn bad_judgements(
    source: &SourceText,
    raw: &RawValue,
    description: impl fmt::Display,
) -> Diagnostic {
    source.problem(
        json::offset_of(source, raw),
        Code::BAD_JUDGEMENTS,
        format!("\"{KEY}\": {description}"),
        "remove the votes, or let `goldgate judge` write them",
    )
}

fn vote(form: RunVoteForm) -> Option<Vote> {
    match form {
        RunVoteForm {
            verdict: Some(word),
            reason: Some(reason),
            missing: None,
        } => {
            let mark = Mark::ALL.into_iter().find(|mark| mark.as_str() == word)?;
            Some(Vote::Given { mark, reason })
        }
        RunVoteForm {
            verdict: None,
            reason: None,
            missing: Some(why),
        } => Some(Vote::Missing(why)),
        RunVoteForm { .. } => None,
    }
}

/// The record's text with these ballots in place of those of the same judges; the rest is unchanged to the byte. A text that is not an
/// object is returned unchanged.
pub fn with_ballots(text: &str, ballots: &[Ballot]) -> String {
    let Ok(Fields(fields)) = serde_json::from_str(text) else {
        return text.to_owned();
    };
    if ballots.is_empty() || fields.is_empty() {
        return text.to_owned();
    }
    let known = fields
        .iter()
        .find(|(key, _)| key.get() == format!("\"{KEY}\""))
        .map(|(_, value)| *value);
    let mut all: BTreeMap<String, Box<RawValue>> = known
        .and_then(|value| serde_json::from_str(value.get()).ok())
        .unwrap_or_default();
    for ballot in ballots {
        let plain = serde_json::to_string(&form(ballot)).expect("every key of a ballot is a text");
        all.insert(
            ballot.judge.to_string(),
            RawValue::from_string(plain).expect("what was written is JSON"),
        );
    }
    let plain = serde_json::to_string(&all).expect("names are texts");
    let mut entries = String::new();
    lines(&mut entries, &plain, 1);
    match known {
        Some(value) => {
            let at = value.get().as_ptr() as usize - text.as_ptr() as usize;
            [&text[..at], &entries, &text[at + value.get().len()..]].concat()
        }
        None => {
            let body = text.trim_end().strip_suffix('}').unwrap_or(text).trim_end();
            format!("{body},\n  \"{KEY}\": {entries}\n}}\n")
        }
    }
}

fn form(ballot: &Ballot) -> BallotForm {
    let Ballot {
        judge: _,
        rubric_sha256,
        judged_sha256,
        target,
        model,
        votes,
    } = ballot.clone();
    let votes = votes.into_iter().map(|vote| match vote {
        Vote::Given { mark, reason } => RunVoteForm {
            verdict: Some(mark.as_str().to_owned()),
            reason: Some(reason),
            missing: None,
        },
        Vote::Missing(why) => RunVoteForm {
            verdict: None,
            reason: None,
            missing: Some(why),
        },
    });
    BallotForm {
        judged_sha256,
        rubric_sha256,
        target,
        model,
        votes: votes.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::with_ballots;
    use crate::files::SourceText;
    use crate::format::run_v1;
    use crate::model::{
        AgentName, Ballot, CaseId, JudgeName, Mark, RepoPath, Run, RunKey, SuiteId, Vote,
    };

    fn reading(text: &str) -> Result<Run, String> {
        let source = SourceText::from_text(RepoPath::root().child("r.json"), text.to_owned());
        let key = RunKey {
            suite: SuiteId::new("s").unwrap(),
            agent: AgentName::new("a").unwrap(),
            case: CaseId::new("c").unwrap(),
        };
        run_v1::read_run(&source, &key, 0).map_err(|problem| problem.to_string())
    }

    fn ballot(judge: &str, reason: &str) -> Ballot {
        Ballot {
            judge: JudgeName::new(judge).unwrap(),
            rubric_sha256: "r".to_owned(),
            judged_sha256: "j".to_owned(),
            target: Some("t".to_owned()),
            model: None,
            votes: vec![
                Vote::Given {
                    mark: Mark::Weak,
                    reason: reason.to_owned(),
                },
                Vote::Missing("HTTP 500".to_owned()),
            ],
        }
    }

    #[test]
    fn written_votes_read_back_and_the_rest_is_unchanged() {
        let text =
            "{\"status\":   \"completed\",\n\"outputs\": {\"text\": \"}\"}, \"more\": [1,  2]}";
        let once = with_ballots(text, &[ballot("b", "says \"}\"\nand \"judgements\": {}")]);
        assert!(once.starts_with(text.strip_suffix('}').unwrap()), "{once}");
        assert_eq!(
            reading(&once).unwrap().ballots,
            [ballot("b", "says \"}\"\nand \"judgements\": {}")]
        );
        let both = with_ballots(&once, &[ballot("a", "x")]);
        let twice = with_ballots(&both, &[ballot("b", "new")]);
        assert_eq!(
            reading(&twice).unwrap().ballots,
            [ballot("a", "x"), ballot("b", "new")]
        );
        assert_eq!(with_ballots(&twice, &[ballot("b", "new")]), twice);
        assert_eq!(
            (
                with_ballots(text, &[]),
                with_ballots("[1]", &[ballot("a", "x")])
            ),
            (text.to_owned(), "[1]".to_owned())
        );
    }

    #[test]
    fn invalid_votes_are_refused_with_their_position() {
        let record = |judgements: &str| {
            format!(
                "{{\"status\": \"completed\", \"outputs\": {{}},\n\"judgements\": {judgements}}}"
            )
        };
        let whole = |vote: &str| {
            record(&format!(
                "{{\"a\": {{\"judged_sha256\": \"\", \"rubric_sha256\": \"\", \"votes\": [{vote}]}}}}"
            ))
        };
        assert_eq!(reading(&whole("")).unwrap().ballots.len(), 1);
        assert_eq!(reading(&record("null")).unwrap().ballots, []);
        for text in [
            record("[]"),
            record("{\"a\": {}}"),
            record("{\"a b\": {\"judged_sha256\": \"\", \"rubric_sha256\": \"\", \"votes\": []}}"),
            whole("{\"verdict\": \"good\", \"reason\": \"r\"}"),
            whole("{\"verdict\": \"pass\"}"),
            whole("{}"),
            whole("{\"verdict\": \"pass\", \"reason\": \"r\", \"missing\": \"m\"}"),
        ] {
            let problem = reading(&text).unwrap_err();
            assert!(
                problem.starts_with("r.json:2:15: \"judgements\": "),
                "{problem}"
            );
        }
    }
}
