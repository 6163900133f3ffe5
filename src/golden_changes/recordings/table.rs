//! The table that decides which recordings count: [`decide`] puts each recording of an agent into a row,
//! [`effect`] says what the row does.
//!
//! No rule on recordings is elsewhere. What a recording states and how it differs from the base commit's is computed before
//! ([`GradedRecording`]).

use std::collections::BTreeMap;

use super::graded::{BaseProof, Content, GradedRecording, Motion, Proof};
use crate::model::{Effect, RecordingTrust, Row};

/// Whether the recording workflow shows that it wrote a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recorder {
    /// It does.
    Shown,
    /// It does not, or nobody asked.
    NotShown,
}

/// What a row does under a trust.
pub fn effect(row: Row, trust: RecordingTrust, recorder: Recorder) -> Effect {
    let by_author = match row {
        Row::Stale | Row::Unproven => Effect::NoVerdict,
        Row::StampedNotRecorded | Row::PartChanged | Row::Gone => Effect::Approval,
        Row::RecordedForChange | Row::New | Row::RecordedAgain | Row::MoreSamples => Effect::Listed,
        Row::UnprovenAsBefore | Row::Unchanged | Row::StampedAsBefore => Effect::Counts,
    };
    match trust {
        RecordingTrust::Author => by_author,
        RecordingTrust::Approval if by_author == Effect::Listed => Effect::Approval,
        RecordingTrust::Approval => by_author,
        // Only the recording workflow can make new content or digests count.
        RecordingTrust::Ci if recorder == Recorder::NotShown && is_new_in_change(row) => {
            Effect::NoVerdict
        }
        RecordingTrust::Ci => by_author,
    }
}

/// Whether the recordings of a row have content or digests that the base commit does not have.
pub fn is_new_in_change(row: Row) -> bool {
    match row {
        Row::RecordedForChange
        | Row::StampedNotRecorded
        | Row::StampedAsBefore
        | Row::New
        | Row::RecordedAgain
        | Row::PartChanged
        | Row::MoreSamples => true,
        Row::Stale | Row::Unproven | Row::UnprovenAsBefore | Row::Unchanged | Row::Gone => false,
    }
}

/// The recordings of an agent by row, as indexes into the list that was decided on. Those that are gone are not in that list.
pub type Rows = BTreeMap<Row, Vec<usize>>;

/// Puts each recording of an agent into its row.
pub fn decide(recordings: &[GradedRecording]) -> Rows {
    let is_made_for_change = recordings.iter().any(|recording| {
        recording.proof.is_current()
            && recording.motion == Motion::Moved
            && matches!(recording.content, Content::Changed(_))
    });
    // Those that could stay as they are, and those of them that changed.
    let settled: Vec<&GradedRecording> = recordings
        .iter()
        .filter(|recording| is_settled(recording))
        .collect();
    let changed = settled
        .iter()
        .filter(|recording| matches!(recording.content, Content::Changed(_)))
        .count();
    let changed_row = if changed == settled.len() {
        Row::RecordedAgain
    } else {
        Row::PartChanged
    };
    let mut rows = Rows::new();
    for (index, recording) in recordings.iter().enumerate() {
        let row = match (recording.proof, recording.motion, recording.content) {
            (Proof::Stale(_), _, _) => Row::Stale,
            (Proof::Missing(_), Motion::Still, Content::Same(_)) => Row::UnprovenAsBefore,
            (Proof::Missing(_), _, _) => Row::Unproven,
            (Proof::Current, _, Content::OfNewCase) => Row::New,
            (Proof::Current, _, Content::OfNewSample) => Row::MoreSamples,
            (Proof::Current, Motion::Moved, Content::Same(_) | Content::Changed(_)) => {
                if is_made_for_change {
                    Row::RecordedForChange
                } else {
                    Row::StampedNotRecorded
                }
            }
            (Proof::Current, Motion::Still, Content::Same(BaseProof::Current)) => Row::Unchanged,
            (Proof::Current, Motion::Still, Content::Same(BaseProof::Other)) => {
                Row::StampedAsBefore
            }
            (Proof::Current, Motion::Still, Content::Changed(BaseProof::Other)) => Row::New,
            (Proof::Current, Motion::Still, Content::Changed(BaseProof::Current)) => changed_row,
        };
        rows.entry(row).or_default().push(index);
    }
    rows
}

/// Whether a recording is current, as the base commit's was, and nothing of it moved.
fn is_settled(recording: &GradedRecording) -> bool {
    let was_current = matches!(
        recording.content,
        Content::Same(BaseProof::Current) | Content::Changed(BaseProof::Current)
    );
    recording.proof.is_current() && recording.motion == Motion::Still && was_current
}

#[cfg(test)]
mod tests {
    use super::Recorder::{NotShown, Shown};
    use super::{decide, effect};
    use crate::golden_changes::recordings::{
        BaseProof, Content, Digest, GradedRecording, Motion, Proof,
    };
    use crate::model::RecordingTrust::{Approval, Author, Ci};
    use crate::model::{Effect, Row};

    const PROOFS: [Proof; 3] = [
        Proof::Current,
        Proof::Missing(Digest::Agent),
        Proof::Stale(Digest::Input),
    ];
    const CONTENTS: [Content; 6] = [
        Content::OfNewCase,
        Content::OfNewSample,
        Content::Same(BaseProof::Current),
        Content::Same(BaseProof::Other),
        Content::Changed(BaseProof::Current),
        Content::Changed(BaseProof::Other),
    ];

    fn every_recording() -> Vec<GradedRecording> {
        let mut all = Vec::new();
        for proof in PROOFS {
            for motion in [Motion::Still, Motion::Moved] {
                for content in CONTENTS {
                    all.push(GradedRecording {
                        proof,
                        motion,
                        content,
                    });
                }
            }
        }
        all
    }

    fn rows(recordings: &[GradedRecording]) -> Vec<Row> {
        let mut rows = vec![None; recordings.len()];
        for (row, indexes) in decide(recordings) {
            for index in indexes {
                assert_eq!(rows[index], None, "two rows for {recordings:?}");
                rows[index] = Some(row);
            }
        }
        rows.into_iter()
            .map(|row| row.expect("each recording has a row"))
            .collect()
    }

    /// The sentences of the table, each computed apart from the program.
    fn expected(recording: &GradedRecording, all: &[GradedRecording]) -> Row {
        let is_new = |one: &GradedRecording| {
            matches!(one.content, Content::OfNewCase | Content::OfNewSample)
        };
        let is_changed = |one: &GradedRecording| matches!(one.content, Content::Changed(_));
        let is_moved = |one: &GradedRecording| one.motion == Motion::Moved;
        if matches!(recording.proof, Proof::Stale(_)) {
            return Row::Stale;
        }
        if matches!(recording.proof, Proof::Missing(_)) {
            let needs = is_new(recording) || is_changed(recording) || is_moved(recording);
            return if needs {
                Row::Unproven
            } else {
                Row::UnprovenAsBefore
            };
        }
        let current: Vec<&GradedRecording> = all
            .iter()
            .filter(|one| one.proof == Proof::Current)
            .collect();
        match recording.content {
            Content::OfNewCase => Row::New,
            Content::OfNewSample => Row::MoreSamples,
            _ if is_moved(recording) => {
                let mut moved = current.iter().filter(|one| is_moved(one) && !is_new(one));
                if moved.any(|one| is_changed(one)) {
                    Row::RecordedForChange
                } else {
                    Row::StampedNotRecorded
                }
            }
            Content::Same(BaseProof::Current) => Row::Unchanged,
            Content::Same(BaseProof::Other) => Row::StampedAsBefore,
            Content::Changed(BaseProof::Other) => Row::New,
            Content::Changed(BaseProof::Current) => {
                let is_same = |one: &&&GradedRecording| {
                    !is_moved(one) && one.content == Content::Same(BaseProof::Current)
                };
                if current.iter().any(|one| is_same(&one)) {
                    Row::PartChanged
                } else {
                    Row::RecordedAgain
                }
            }
        }
    }

    #[test]
    fn every_combination_of_four_recordings_has_one_result() {
        let kinds = every_recording();
        // Two cases with two samples each: the order of recordings does not count, so each multiset is enough.
        let mut count = 0;
        for (a, one) in kinds.iter().enumerate() {
            for (b, two) in kinds.iter().enumerate().skip(a) {
                for (c, three) in kinds.iter().enumerate().skip(b) {
                    for four in kinds.iter().skip(c) {
                        let all = [*one, *two, *three, *four];
                        let expected: Vec<Row> =
                            all.iter().map(|one| expected(one, &all)).collect();
                        assert_eq!(rows(&all), expected, "{all:?}");
                        count += 1;
                    }
                }
            }
        }
        assert_eq!(count, 82_251);
    }

    #[test]
    fn a_stricter_trust_lets_less_through() {
        for (row, author, approval, ci) in [
            (
                Row::Stale,
                Effect::NoVerdict,
                Effect::NoVerdict,
                Effect::NoVerdict,
            ),
            (
                Row::Unproven,
                Effect::NoVerdict,
                Effect::NoVerdict,
                Effect::NoVerdict,
            ),
            (
                Row::UnprovenAsBefore,
                Effect::Counts,
                Effect::Counts,
                Effect::Counts,
            ),
            (
                Row::RecordedForChange,
                Effect::Listed,
                Effect::Approval,
                Effect::NoVerdict,
            ),
            (
                Row::StampedNotRecorded,
                Effect::Approval,
                Effect::Approval,
                Effect::NoVerdict,
            ),
            (
                Row::Unchanged,
                Effect::Counts,
                Effect::Counts,
                Effect::Counts,
            ),
            (
                Row::StampedAsBefore,
                Effect::Counts,
                Effect::Counts,
                Effect::NoVerdict,
            ),
            (
                Row::New,
                Effect::Listed,
                Effect::Approval,
                Effect::NoVerdict,
            ),
            (
                Row::RecordedAgain,
                Effect::Listed,
                Effect::Approval,
                Effect::NoVerdict,
            ),
            (
                Row::PartChanged,
                Effect::Approval,
                Effect::Approval,
                Effect::NoVerdict,
            ),
            (
                Row::MoreSamples,
                Effect::Listed,
                Effect::Approval,
                Effect::NoVerdict,
            ),
            (
                Row::Gone,
                Effect::Approval,
                Effect::Approval,
                Effect::Approval,
            ),
        ] {
            for recorder in [Shown, NotShown] {
                assert_eq!(effect(row, Author, recorder), author, "{row:?}");
                assert_eq!(effect(row, Approval, recorder), approval, "{row:?}");
            }
            assert_eq!(effect(row, Ci, NotShown), ci, "{row:?}");
            assert_eq!(effect(row, Ci, Shown), author, "{row:?}");
        }
    }
}
