//! Whether the recordings of a change were left by a run of `mode: record` (`recordings: { trust: ci }`).
//!
//! Each recording names the commit that it was recorded from and the run. That run has set a status on that commit with a digest over the
//! paths and contents of all recordings that it made. What a recording says is only where to look: the status, its account and the digest
//! decide. So a rebase or a merge queue needs no new recording.

use std::collections::{BTreeMap, BTreeSet};

use super::recording_use::RunsOf;
use super::recordings::not_of_base;
use super::{Sides, same_suite};
use crate::files::sha256_hex;
use crate::format::lenient;
use crate::model::{CommitStatus, Config, RepoPath, StatusState, Tier};
use crate::text::named;

/// The context of the status, before the key of the config.
pub const RECORDING_STATUS: &str = "goldgate/recordings";
/// The most commits whose statuses are looked up: each is a request.
const COMMITS: usize = 100;

/// The origin of recordings: the commit and the run that they name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RecordingGroup {
    /// The recorded commit.
    pub commit: String,
    /// The address of the run.
    pub run: String,
}

/// The digest over recordings: their paths and the digests of their contents, sorted.
pub fn recording_digest<'a>(files: impl Iterator<Item = (&'a RepoPath, &'a [u8])>) -> String {
    let lines: BTreeSet<String> = files
        .map(|(file, bytes)| format!("{}  {file}\n", sha256_hex(bytes)))
        .collect();
    sha256_hex(lines.into_iter().collect::<String>().as_bytes())
}

/// The description of the status. GitHub allows 140 characters.
pub fn proof_description(count: usize, digest: &str) -> String {
    format!("recordings: {count}; digest {digest}")
}

/// Why recordings are not proven.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unproven {
    /// No run left them as they are.
    Files {
        /// The files.
        missing: Vec<RepoPath>,
        /// The runs that left recordings of which some are missing or changed.
        incomplete: BTreeSet<String>,
    },
    /// It cannot be known here, because GitHub cannot be asked.
    NoStatuses(usize),
    /// It cannot be known, for this reason.
    Unknown(String),
}

/// The change whose recordings are examined.
#[derive(Clone, Copy)]
pub struct RecordingChanges<'a> {
    /// The files of both commits.
    pub sides: Sides<'a>,
    /// The base commit's config.
    pub before: &'a Config,
    /// The head's config.
    pub after: &'a Config,
    /// The tiers whose recordings count.
    pub tiers: &'a [Tier],
    /// The login that sets the statuses.
    pub account: &'a str,
}

/// What remains of the recordings of a run once some of them are replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemainingRecordings {
    /// The commit that they name.
    pub commit: String,
    /// Their number.
    pub count: usize,
    /// Their digest.
    pub digest: String,
}

type RecordingContents = BTreeMap<RepoPath, Vec<u8>>;
/// Recordings by the run that they name.
type RecordingsByRun = BTreeMap<RecordingGroup, RecordingContents>;

/// The recordings of a change that no run left, if there are any. What the base commit holds needs no proof.
pub fn unproven(change: &RecordingChanges<'_>) -> Option<Unproven> {
    match examine(change) {
        Ok(Examined {
            missing,
            incomplete,
            proven: _,
        }) => (!missing.is_empty()).then_some(Unproven::Files {
            missing,
            incomplete,
        }),
        Err(unproven) => Some(unproven),
    }
}

/// The proven recordings that stay when others of the same run are replaced: they need a status of their own.
pub fn remaining(
    change: &RecordingChanges<'_>,
    replaced: &BTreeSet<RepoPath>,
) -> Vec<RemainingRecordings> {
    let Ok(examined) = examine(change) else {
        return Vec::new();
    };
    let touched = examined
        .proven
        .into_iter()
        .filter(|(_, files)| files.keys().any(|file| replaced.contains(file)));
    let left = touched.map(|(group, mut files)| {
        files.retain(|file, _| !replaced.contains(file));
        RemainingRecordings {
            commit: group.commit,
            count: files.len(),
            digest: digest_of(&files),
        }
    });
    left.filter(|left| left.count > 0).collect()
}

fn digest_of(files: &RecordingContents) -> String {
    recording_digest(files.iter().map(|(file, bytes)| (file, bytes.as_slice())))
}

/// What statuses say of the recordings of a change.
struct Examined {
    /// Those that a status proves, by run.
    proven: RecordingsByRun,
    /// The others.
    missing: Vec<RepoPath>,
    /// The runs of others that have a status for other contents.
    incomplete: BTreeSet<String>,
}

/// Compares the recordings of a change with the statuses of the commits that they name.
fn examine(change: &RecordingChanges<'_>) -> Result<Examined, Unproven> {
    let (groups, mut missing) = grouped(change)?;
    let count = missing.len() + groups.values().map(BTreeMap::len).sum::<usize>();
    // Where there are no statuses, there are none of any commit.
    if count > 0 && change.sides.base.statuses_of("").is_none() {
        return Err(Unproven::NoStatuses(count));
    }
    let commits = groups
        .keys()
        .map(|group| &group.commit)
        .collect::<BTreeSet<_>>()
        .len();
    if commits > COMMITS {
        let why = format!(
            "they name {commits} commits, and the statuses of at most {COMMITS} are read; merge fewer changes together"
        );
        return Err(Unproven::Unknown(why));
    }
    let mut known: BTreeMap<String, Vec<CommitStatus>> = BTreeMap::new();
    let (mut proven, mut incomplete) = (RecordingsByRun::new(), BTreeSet::new());
    for (group, files) in groups {
        if !known.contains_key(&group.commit) {
            match change.sides.base.statuses_of(&group.commit) {
                None => return Err(Unproven::NoStatuses(count)),
                Some(Err(why)) => return Err(Unproven::Unknown(why)),
                Some(Ok(statuses)) => drop(known.insert(group.commit.clone(), statuses)),
            }
        }
        let statuses = known
            .get(&group.commit)
            .map(Vec::as_slice)
            .unwrap_or_default();
        let digest = digest_of(&files);
        match statuses
            .iter()
            .any(|status| proves(status, change.account, files.len(), &digest))
        {
            true => drop(proven.insert(group, files)),
            false => {
                if statuses
                    .iter()
                    .any(|status| is_proof(status, change.account))
                {
                    incomplete.insert(group.run);
                }
                missing.extend(files.into_keys());
            }
        }
    }
    missing.sort();
    Ok(Examined {
        proven,
        missing,
        incomplete,
    })
}

/// The recordings of a change by the run that they name, and those that name none.
fn grouped(change: &RecordingChanges<'_>) -> Result<(RecordingsByRun, Vec<RepoPath>), Unproven> {
    let mut missing = Vec::new();
    let mut groups = RecordingsByRun::new();
    for file in changed(change).map_err(Unproven::Unknown)? {
        let bytes = change
            .sides
            .head
            .bytes(&file)
            .map_err(|problem| Unproven::Unknown(problem.to_string()))?;
        match group_of(&bytes) {
            Some(group) => drop(groups.entry(group).or_default().insert(file, bytes)),
            None => missing.push(file),
        }
    }
    Ok((groups, missing))
}

/// Whether a status proves recordings with this digest.
fn proves(status: &CommitStatus, account: &str, count: usize, digest: &str) -> bool {
    is_proof(status, account) && status.description == proof_description(count, digest)
}

/// Whether a status proves any recordings.
fn is_proof(status: &CommitStatus, account: &str) -> bool {
    let is_own = status.context == RECORDING_STATUS
        || status
            .context
            .strip_prefix(RECORDING_STATUS)
            .is_some_and(|key| key.starts_with('/'));
    // GitHub's logins are unique without regard to letter case.
    is_own && status.state == StatusState::Success && status.creator.eq_ignore_ascii_case(account)
}

/// The recordings of a change that the base commit does not hold.
fn changed(change: &RecordingChanges<'_>) -> Result<BTreeSet<RepoPath>, String> {
    let mut found = BTreeSet::new();
    for suite in &change.after.suites {
        let old = same_suite(change.before, suite);
        for (name, agent) in &suite.agents {
            for tier in change.tiers {
                let who = RunsOf {
                    suite: &suite.id,
                    agent: name,
                    tier: *tier,
                };
                let before = old.and_then(|old| old.agents.get(name));
                found.extend(not_of_base(&change.sides, &who, before, agent)?);
            }
        }
    }
    Ok(found)
}

/// The origin that a recording names.
fn group_of(bytes: &[u8]) -> Option<RecordingGroup> {
    let run = lenient::whole(std::str::from_utf8(bytes).ok()?)?;
    let text = |key: &str| run.get("provenance")?.get(key)?.as_str().map(str::to_owned);
    let is_id =
        |commit: &String| commit.len() >= 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    Some(RecordingGroup {
        commit: text("commit").filter(is_id)?,
        run: text("run")?,
    })
}

impl Unproven {
    /// What to say about it. `label` starts a recording.
    pub fn words(&self, label: &str) -> String {
        match self {
            Self::Files {
                missing,
                incomplete,
            } => {
                let names: Vec<&str> = missing.iter().map(RepoPath::as_str).collect();
                let runs: Vec<&str> = incomplete.iter().map(String::as_str).collect();
                let partly = match runs.is_empty() {
                    true => String::new(),
                    false => format!(
                        " ({} left recordings of which some are missing here or changed)",
                        named(&runs)
                    ),
                };
                format!(
                    "recordings count only if a run of `mode: record` left them, and none left {} like this{partly}: set the label \
                     {label}, or restore the recordings of the base branch",
                    named(&names)
                )
            }
            Self::NoStatuses(count) => format!(
                "{count} changed recordings count in CI only if a run of `mode: record` left them, which cannot be checked here: only \
                 the action with a token can ask GitHub"
            ),
            Self::Unknown(why) => {
                format!(
                    "it is unknown whether a run of `mode: record` left the recordings of this change: {why}"
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{group_of, proof_description, proves, recording_digest};
    use crate::model::{CommitStatus, RepoPath, StatusState};

    fn digest(files: &[(&str, &str)]) -> String {
        let files: Vec<(RepoPath, &[u8])> = files
            .iter()
            .map(|(path, text)| (RepoPath::root().join(path).unwrap(), text.as_bytes()))
            .collect();
        recording_digest(files.iter().map(|(path, bytes)| (path, *bytes)))
    }

    #[test]
    fn the_digest_covers_every_path_and_content_in_any_order() {
        let both = digest(&[("a/b.json", "1"), ("a/c.json", "2")]);
        assert_eq!(both, digest(&[("a/c.json", "2"), ("a/b.json", "1")]));
        for other in [
            &[("a/b.json", "2"), ("a/c.json", "1")][..],
            &[("a/b.json", "1")],
            &[("a/b.json", "1"), ("a/d.json", "2")],
            &[("a/b.json", "1"), ("a/c.json", "2"), ("a/d.json", "3")],
        ] {
            assert_ne!(both, digest(other), "{other:?}");
        }
        assert!(proof_description(1_000_000, &both).len() <= 140);
    }

    #[test]
    fn only_the_account_the_context_and_a_success_prove() {
        let digest = digest(&[("a.json", "1")]);
        let status = |context: &str, creator: &str, state: StatusState| CommitStatus {
            context: context.to_owned(),
            state,
            description: proof_description(1, &digest),
            creator: creator.to_owned(),
            at: String::new(),
        };
        let own = "recorder[bot]";
        for (context, creator, state, expected) in [
            ("goldgate/recordings", own, StatusState::Success, true),
            ("goldgate/recordings/evals", own, StatusState::Success, true),
            (
                "goldgate/recordings",
                "mallory",
                StatusState::Success,
                false,
            ),
            ("goldgate/recordings", own, StatusState::Failure, false),
            ("goldgate/recordings", own, StatusState::Other, false),
            ("goldgate/recordingsx", own, StatusState::Success, false),
            ("goldgate/baseline", own, StatusState::Success, false),
        ] {
            assert_eq!(
                proves(&status(context, creator, state), own, 1, &digest),
                expected,
                "{context} {creator}"
            );
        }
        assert!(!proves(
            &status("goldgate/recordings", own, StatusState::Success),
            own,
            2,
            &digest
        ));
    }

    #[test]
    fn a_recording_names_a_whole_commit_and_a_run() {
        let of = |commit: &str, run: &str| {
            group_of(
                format!(r#"{{"provenance": {{"commit": {commit}, "run": {run}}}}}"#).as_bytes(),
            )
        };
        let commit = format!("\"{}\"", "a".repeat(40));
        assert!(of(&commit, "\"r\"").is_some());
        for (commit, run) in [
            (commit.as_str(), "null"),
            ("\"abc\"", "\"r\""),
            ("\"../../x\"", "\"r\""),
            ("null", "\"r\""),
        ] {
            assert_eq!(of(commit, run), None, "{commit} {run}");
        }
    }
}
