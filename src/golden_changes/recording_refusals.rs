//! Why recordings give no verdict: they cannot be compared, or were not recorded again.

use super::record_command::{RecordedCases, record_again};
use super::recording_change::{CaseSample, RecordingChange};
use super::recording_comparison::{ComparedAgent, RecordingComparison};
use crate::model::{NoVerdict, RecordingAge};
use crate::text::{first_of, named};

impl RecordingComparison<'_> {
    /// The reason why some recordings cannot be compared; `None` if all can.
    pub fn unread(&self) -> Option<NoVerdict> {
        let unread = self.of(&[RecordingChange::Unread]);
        let count = match unread.len() {
            0 => return None,
            1 => "1 recording".to_owned(),
            more => format!("{more} recordings"),
        };
        Some(NoVerdict::liftable(format!(
            "{}: {count} cannot be compared, because the base commit's version cannot be read: {}",
            self.agent(),
            named(&self.names(&unread))
        )))
    }

    /// Unchanged recordings, apart from votes, whose digests do not prove that they are from the current agent, or from its changed
    /// prompt package.
    fn unknown(&self) -> Vec<&CaseSample> {
        let unknown = |key: &&CaseSample| self.age(key) == Some(RecordingAge::Unknown);
        self.of(&[RecordingChange::Same, RecordingChange::Votes])
            .into_iter()
            .filter(unknown)
            .collect()
    }

    /// The recordings that are stale because the agent's files changed: those that did not change, or only in digests that prove
    /// nothing or in their number.
    pub fn stale(&self) -> Option<NoVerdict> {
        let mut stale = self.of(&[RecordingChange::Digests]);
        stale.extend(self.only_renumbered());
        stale.retain(|key| !self.is_proved(key));
        stale.extend(self.unknown());
        stale.sort();
        stale.dedup();
        self.refused(&stale, |were| {
            format!("the agent's files changed and {were} not recorded again")
        })
    }

    /// If the agent's files changed, a recording that is compared with none may be of the agent before, unless its digest says otherwise.
    pub fn unproved(&self) -> Option<NoVerdict> {
        self.refused(&self.uncompared_unknown(), |were| {
            format!("the agent's files changed, and {were} made without a digest of them; the base commit has none to compare with, so nothing shows whether they are new")
        })
    }

    fn uncompared_unknown(&self) -> Vec<&CaseSample> {
        let is_unknown = |key: &&CaseSample| self.age(key) == Some(RecordingAge::Unknown);
        self.uncompared.iter().copied().filter(is_unknown).collect()
    }

    /// If the agent's files cannot be compared, a recording without a digest of them may be from another version of the agent.
    pub fn incomparable(&self, why: &str) -> Option<NoVerdict> {
        let words = |were: &str| {
            format!(
                "the agent's files cannot be compared with the base commit ({why}), and {were} made without a digest of them"
            )
        };
        self.refused(&[self.unknown(), self.uncompared_unknown()].concat(), words)
    }

    fn refused(
        &self,
        recordings: &[&CaseSample],
        what: impl Fn(&str) -> String,
    ) -> Option<NoVerdict> {
        let were = match recordings.len() {
            0 => return None,
            1 => "1 recording was".to_owned(),
            count => format!("{count} recordings were"),
        };
        let ComparedAgent {
            suite,
            agent,
            config,
            ..
        } = self.owner;
        Some(NoVerdict::lasting(format!(
            "{suite}/{agent}: {} ({}); {}",
            what(&were),
            first_of(&self.names(recordings)),
            record_again(
                config,
                suite,
                Some(agent),
                self.folder.as_str(),
                RecordedCases::All
            ),
        )))
    }
}
