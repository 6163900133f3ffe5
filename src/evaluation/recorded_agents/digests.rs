//! What the digests that a recording states prove.

use super::sources::called;
use super::stamped::RecordingDigests;
use crate::diag::Diagnostic;
use crate::evaluation::agent_digest::AgentState;
use crate::evaluation::plan::LoadedSuite;
use crate::files::Files;
use crate::format::run_v1::{StatedOrigin, content_sha256};
use crate::golden_changes::{BaseProof, Digest, Motion, Proof};
use crate::model::{Ask, Config, RunKey};
use crate::suites::input_digest;

/// The digests of a commit that a recording is compared with. `None` is not compared.
pub struct CurrentDigests<'a> {
    /// Of the agent's files.
    pub agent: Option<&'a str>,
    /// Of what the case asks.
    pub input: Option<&'a str>,
    /// Of what is called.
    pub target: Option<&'a str>,
}

/// What a recording proves. `content` is its text, where the digest of its content is compared. If the target moved, it has to be stated.
pub fn proof(
    stated: &StatedOrigin,
    current: &CurrentDigests<'_>,
    content: Option<&str>,
    target: Motion,
) -> Proof {
    let compared = [
        (Digest::Agent, &stated.agent_sha256, current.agent),
        (Digest::Input, &stated.input_sha256, current.input),
        (Digest::Target, &stated.target_sha256, current.target),
    ];
    for (digest, stated, current) in compared {
        if differs(stated, current) {
            return Proof::Stale(digest);
        }
    }
    let of_content = content
        .filter(|_| stated.content_sha256.is_some())
        .and_then(content_sha256);
    if differs(&stated.content_sha256, of_content.as_deref()) {
        return Proof::Stale(Digest::Content);
    }
    if is_missing(&stated.agent_sha256, current.agent) {
        return Proof::Missing(Digest::Agent);
    }
    if is_missing(&stated.input_sha256, current.input) {
        return Proof::Missing(Digest::Input);
    }
    if target == Motion::Moved && is_missing(&stated.target_sha256, current.target) {
        return Proof::Missing(Digest::Target);
    }
    Proof::Current
}

/// What the base commit's recording proves on the base commit.
pub fn base_proof(stated: &StatedOrigin, then: &CurrentDigests<'_>) -> BaseProof {
    if proof(stated, then, None, Motion::Still).is_current() {
        BaseProof::Current
    } else {
        BaseProof::Other
    }
}

/// Whether a recording states a digest that is compared, and another one.
fn differs(stated: &Option<String>, current: Option<&str>) -> bool {
    stated
        .as_deref()
        .zip(current)
        .is_some_and(|(stated, current)| stated != current)
}

/// Whether a recording does not state a digest that is compared.
fn is_missing(stated: &Option<String>, current: Option<&str>) -> bool {
    stated.is_none() && current.is_some()
}

/// What the digests of a new recording of a case are made of.
pub struct RecordingInput {
    /// The digest of the agent's files.
    pub agent: Option<String>,
    pub ask: Option<Ask>,
    /// The digest of what the agent calls.
    pub target: Option<String>,
}

impl RecordingInput {
    /// The digests for a recording that was made with the present files.
    ///
    /// # Errors
    /// Files of the case that cannot be read.
    pub fn digests(self, files: &dyn Files) -> Result<RecordingDigests, Diagnostic> {
        let input = self.ask.map(|ask| input_digest(&ask, files)).transpose()?;
        Ok(RecordingDigests {
            agent: self.agent,
            input,
            target: self.target,
        })
    }
}

/// Returns the agent's digest and the case's request for a new recording; `None` if no pair of the suite has this run.
///
/// # Errors
/// Files that cannot be read.
pub fn recording_input(
    config: &Config,
    loaded: &LoadedSuite,
    key: &RunKey,
    files: &dyn Files,
) -> Result<Option<RecordingInput>, Diagnostic> {
    let pair = loaded
        .suite
        .pairs_to_run()
        .find(|pair| pair.runs.contains(key));
    let (Some(pair), Some(agent)) = (pair, loaded.config.agents.get(&key.agent)) else {
        return Ok(None);
    };
    let who = format!("{}/{}", key.suite, key.agent);
    let state = AgentState::of_present_files(files, &config.file, &who, agent)?;
    let ask = loaded.suite.ask(pair, key, files)?;
    Ok(Some(RecordingInput {
        agent: state.sha256().map(str::to_owned),
        ask,
        target: called(config, agent),
    }))
}

#[cfg(test)]
mod tests {
    use super::{CurrentDigests, proof};
    use crate::format::run_v1::{StatedOrigin, content_sha256};
    use crate::golden_changes::{Digest, Motion, Proof};

    const TEXT: &str = r#"{"outputs": {}}"#;

    fn stated(agent: &str, input: &str, target: &str) -> StatedOrigin {
        let of = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        StatedOrigin {
            agent_sha256: of(agent),
            input_sha256: of(input),
            target_sha256: of(target),
            ..StatedOrigin::default()
        }
    }

    #[test]
    fn stale_goes_before_missing() {
        let now = CurrentDigests {
            agent: Some("a"),
            input: Some("i"),
            target: Some("t"),
        };
        for (agent, input, target, still, moved) in [
            ("a", "i", "t", Proof::Current, Proof::Current),
            ("a", "i", "", Proof::Current, Proof::Missing(Digest::Target)),
            (
                "",
                "i",
                "t",
                Proof::Missing(Digest::Agent),
                Proof::Missing(Digest::Agent),
            ),
            (
                "a",
                "",
                "t",
                Proof::Missing(Digest::Input),
                Proof::Missing(Digest::Input),
            ),
            (
                "",
                "x",
                "t",
                Proof::Stale(Digest::Input),
                Proof::Stale(Digest::Input),
            ),
            (
                "x",
                "",
                "",
                Proof::Stale(Digest::Agent),
                Proof::Stale(Digest::Agent),
            ),
            (
                "a",
                "i",
                "x",
                Proof::Stale(Digest::Target),
                Proof::Stale(Digest::Target),
            ),
        ] {
            let stated = stated(agent, input, target);
            assert_eq!(
                proof(&stated, &now, None, Motion::Still),
                still,
                "{stated:?}"
            );
            assert_eq!(
                proof(&stated, &now, None, Motion::Moved),
                moved,
                "{stated:?}"
            );
        }
    }

    #[test]
    fn a_digest_that_is_not_compared_is_not_missing() {
        let now = CurrentDigests {
            agent: None,
            input: Some("i"),
            target: None,
        };
        let is = |agent: &str| proof(&stated(agent, "i", ""), &now, None, Motion::Moved);
        assert_eq!((is(""), is("x")), (Proof::Current, Proof::Current));
    }

    #[test]
    fn an_edited_recording_that_states_its_content_is_stale() {
        let now = CurrentDigests {
            agent: None,
            input: None,
            target: None,
        };
        let mut stated = StatedOrigin::default();
        let proof = |stated: &StatedOrigin, text| proof(stated, &now, text, Motion::Still);
        assert_eq!(proof(&stated, Some(TEXT)), Proof::Current);
        stated.content_sha256 = content_sha256(TEXT);
        assert_eq!(proof(&stated, Some(TEXT)), Proof::Current);
        let other = r#"{"outputs": {"text": "x"}}"#;
        assert_eq!(proof(&stated, Some(other)), Proof::Stale(Digest::Content));
        assert_eq!(proof(&stated, None), Proof::Current);
    }
}
