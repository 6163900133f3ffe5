//! Compares recordings together with the files of their agent. A recording that changed alone was edited, not recorded.

use std::collections::{BTreeMap, BTreeSet};

use super::Sides;
use super::agent_files::{
    AgentFileChange, agent_file_change, digests_of_prompt_change, names_all_of, report_moved_out,
    report_taken_over, with_all_recordings,
};
use super::called_targets::{OtherMaker, RecordedOn};
use super::found::ChangeCollector;
use super::old_prompts::ReplacedPrompts;
use super::recorded_before::HistorySearch;
use super::recording_change::{
    CaseSample, RecordedFile, RecordingChange, Recordings, changes, copies, difference,
    missing_on_base, recordings,
};
use super::recording_comparison::{ComparedAgent, KnownRecordings, RecordingComparison};
use super::recording_lists::{RecordingLists, recorded_files};
use super::recording_use::{RecordingUse, RunsOf};
use super::same_contents::changed_contents;
use crate::files::Files;
use crate::model::{
    Agent, AgentName, CaseId, ChangeClass, NoVerdict, RecordingAge, RepoPath, RunKey, RunSource,
    Tier, Weight,
};

/// Compares the recordings of one agent in the tiers that decide. Returns the reasons why they give no verdict. Recordings of new
/// cases do not count as changes.
pub fn compare(
    sides: &Sides<'_>,
    owner: &ComparedAgent<'_>,
    before: &Agent,
    after: &Agent,
    found: &mut ChangeCollector,
) -> Vec<NoVerdict> {
    let replayed = |tier: &Tier| {
        let (old, new) = (
            before.source(*tier)?.recordings()?,
            after.source(*tier)?.recordings()?,
        );
        Some((old, new, RecordingUse::of(after.source(*tier)?)))
    };
    // Both tiers may replay the same recordings.
    let folders: BTreeSet<(&RepoPath, &RepoPath, RecordingUse)> =
        owner.recordings.tiers.iter().filter_map(replayed).collect();
    report_taken_over(
        sides,
        [before, after],
        &format!("{}/{}", owner.suite, owner.agent),
        found,
    );
    let [before, after] = &with_all_recordings(before, after);
    let inputs = agent_file_change(sides, before, after);
    let is_other_list = before.fingerprint != after.fingerprint || before.prompt != after.prompt;
    let is_same = || matches!(changed_contents(sides, before, after), Ok(Some(changed)) if changed.is_empty());
    let has_same_contents = is_other_list && is_same();
    let refusals = folders.into_iter().filter_map(|(old, new, used)| {
        let folder = new;
        let (old, new) = (
            old.child(owner.agent.as_str()),
            new.child(owner.agent.as_str()),
        );
        let places = BTreeSet::from([old.clone(), new.clone()]);
        let (mut old, new) = match (counted_before(owner, &old), counted(owner, &new)) {
            (Ok(before), Ok(after)) => (before, after),
            (Err(why), _) | (_, Err(why)) => {
                let words = format!(
                    "recordings of `{}/{}` cannot be compared: {why}",
                    owner.suite, owner.agent
                );
                found.add(
                    ChangeClass::Recording,
                    Weight::NeedsApproval,
                    words,
                    Some(&owner.config.file),
                );
                return None;
            }
        };
        let mut changes = changes(sides, &old, &new);
        let missing = missing_on_base(sides, &old, &new, &changes);
        if !missing.is_empty() {
            old.retain(|key, _| !missing.contains(key));
            changes = self::changes(sides, &old, &new);
        }
        let copies = copies(sides, &old, &new, &changes);
        let mut one = RecordingComparison {
            sides,
            owner,
            folder,
            old: &old,
            new: &new,
            changes,
            uncompared: owner.uncompared(&old, &new, &missing),
            copies,
            prompt_digests: digests_of_prompt_change(sides, after),
            is_other_list,
            has_same_contents,
            made_otherwise: made_otherwise(sides, (&old, &new), owner, used),
            still_otherwise: still_otherwise(sides, (&old, &new), owner, used),
            older: BTreeSet::new(),
        };
        if let Some(unread) = one.unread() {
            return Some(unread);
        }
        if used == RecordingUse::Graded {
            one.older = older(&one, found, after, (&inputs, places));
        }
        list_changes(&one, found, [before, after], (&inputs, used));
        refusal(&one, found, &inputs, used)
    });
    refusals.collect()
}

/// The recordings of the head whose cases count.
fn counted(owner: &ComparedAgent<'_>, folder: &RepoPath) -> Result<Recordings, String> {
    let mut all = recordings(owner.recordings.lists.head.take(folder)?);
    all.retain(|key, _| (owner.recordings.counts)(owner.suite, owner.agent, &key.0));
    Ok(all)
}

/// The recordings of the cases that count on the base commit. Nobody had to record those of drafts that became cases.
fn counted_before(owner: &ComparedAgent<'_>, folder: &RepoPath) -> Result<Recordings, String> {
    let mut all = recordings(owner.recordings.lists.base.take(folder)?);
    let KnownRecordings {
        is_read,
        counts_on_base,
        ..
    } = owner.recordings;
    if is_read(owner.suite) {
        all.retain(|key, _| owner.run(&key.0).is_some_and(|run| counts_on_base(&run)));
    }
    Ok(all)
}

/// Reports recordings that an earlier commit has with other files of the agent, and returns those that need an approval. Where no file changed, only
/// further recordings can be of other files than the present ones.
fn older(
    one: &RecordingComparison<'_>,
    found: &mut ChangeCollector,
    after: &Agent,
    (inputs, places): (&Result<AgentFileChange, String>, BTreeSet<RepoPath>),
) -> BTreeSet<CaseSample> {
    let ComparedAgent {
        suite,
        agent,
        config,
        ..
    } = one.owner;
    let new = HistorySearch {
        sides: one.sides,
        config,
        suite,
        name: agent,
        agent: after,
        folder: one.folder,
        places,
        old: one.old,
        new: one.new,
        age: &|key, _| one.age(key).unwrap_or(RecordingAge::Unknown),
    };
    let is_looked_for = |key: &&CaseSample| match inputs {
        Ok(AgentFileChange::Changed) => true,
        Ok(AgentFileChange::Unchanged(_)) => {
            one.changes.get(*key) != Some(&RecordingChange::Content)
        }
        Ok(AgentFileChange::Unknown) | Err(_) => false,
    };
    new.report_older(found, one.made().filter(is_looked_for))
        .into_iter()
        .cloned()
        .collect()
}

/// Returns why recordings give no verdict. Reports recordings that were made with something else than the agent calls now.
fn refusal(
    one: &RecordingComparison<'_>,
    found: &mut ChangeCollector,
    inputs: &Result<AgentFileChange, String>,
    used: RecordingUse,
) -> Option<NoVerdict> {
    let refused = match (inputs, used) {
        (Ok(AgentFileChange::Changed), RecordingUse::Graded) => {
            one.stale().or_else(|| one.unproved())
        }
        (Ok(AgentFileChange::Unchanged(_) | AgentFileChange::Unknown), RecordingUse::Graded) => {
            None
        }
        // Changed code runs again, and a request that is not recorded gives no result.
        (Ok(_), RecordingUse::AnswersCalls) => {
            one.edited_answers(found);
            one.of_other_targets(found);
            return None;
        }
        (Err(why), _) => return one.incomparable(why),
    };
    if refused.is_none() {
        one.of_other_targets(found);
    }
    refused
}

/// Adds the lines about recordings and about the list of the agent's files.
fn list_changes(
    one: &RecordingComparison<'_>,
    found: &mut ChangeCollector,
    [before, after]: [&Agent; 2],
    (inputs, used): (&Result<AgentFileChange, String>, RecordingUse),
) {
    let sides = one.sides;
    one.other_calls(found);
    // Code that runs again asks for what it was asked in the recordings, or gets no answer.
    if used == RecordingUse::Graded {
        one.unnamed_models(found, after);
    }
    // A file that only the new list names does not explain changed recordings that may be of the former list.
    let is_wider =
        before.fingerprint != after.fingerprint && names_all_of(before, after, sides.head);
    match inputs {
        Ok(AgentFileChange::Changed) if is_wider && one.are_proved() => one.list(found, inputs),
        _ if is_wider => one.list(found, &agent_file_change(sides, before, before)),
        // Recordings of another list are stale, so all of them are made again.
        Ok(AgentFileChange::Unchanged(_)) if one.is_other_list && one.is_whole_new() => {
            one.list(found, &Ok(AgentFileChange::Changed));
        }
        _ => one.list(found, inputs),
    }
    if one.is_other_list {
        one.moved_files(found, before, after);
    }
    if used == RecordingUse::Graded && matches!(inputs, Ok(AgentFileChange::Changed)) {
        one.old_prompts(found, &ReplacedPrompts::of(sides, before, after));
    }
    if one.is_other_list || matches!(inputs, Ok(AgentFileChange::Changed)) {
        report_moved_out(sides, [before, after], &one.agent(), found);
    }
}

/// The recordings of an agent in a folder, without other files.
///
/// # Errors
/// Why they cannot be listed.
pub fn recording_files(
    files: &dyn Files,
    folder: &RepoPath,
    agent: &AgentName,
) -> Result<Vec<RepoPath>, String> {
    let recorded = recordings(recorded_files(files, &folder.child(agent.as_str()))?);
    Ok(recorded
        .into_values()
        .map(|recorded| recorded.file)
        .collect())
}

/// The recordings that were made with one of these targets, and with which one.
fn made_otherwise<'a>(
    sides: &Sides<'_>,
    (old, new): (&'a Recordings, &'a Recordings),
    owner: &ComparedAgent<'_>,
    used: RecordingUse,
) -> BTreeMap<&'a CaseSample, OtherMaker> {
    if owner.targets.is_empty() {
        return BTreeMap::new();
    }
    let of_base = old.iter().filter_map(|(key, recorded)| {
        Some((
            key,
            owner.made_otherwise(sides.base, key, recorded, RecordedOn::Base, used)?,
        ))
    });
    let added = new.iter().filter(|(key, _)| !old.contains_key(*key));
    let of_head = added.filter_map(|(key, recorded)| {
        Some((
            key,
            owner.made_otherwise(sides.head, key, recorded, RecordedOn::HeadAlone, used)?,
        ))
    });
    of_base.chain(of_head).collect()
}

/// The recordings of both sides that state on the head the model of before.
fn still_otherwise<'a>(
    sides: &Sides<'_>,
    (old, new): (&'a Recordings, &Recordings),
    owner: &ComparedAgent<'_>,
    used: RecordingUse,
) -> BTreeSet<&'a CaseSample> {
    if owner.targets.is_empty() {
        return BTreeSet::new();
    }
    let is_still = |key: &CaseSample, recorded: &RecordedFile| {
        owner
            .made_otherwise(sides.head, key, recorded, RecordedOn::HeadAlone, used)
            .is_some()
    };
    old.keys()
        .filter(|key| new.get(key).is_some_and(|recorded| is_still(key, recorded)))
        .collect()
}

/// The samples that were added to existing cases of an unchanged agent, in one tier. Reads no recording.
pub fn added(
    sides: &Sides<'_>,
    lists: &RecordingLists<'_>,
    owner: &RunsOf<'_>,
    [before, after]: [&Agent; 2],
) -> BTreeSet<(RunKey, u32)> {
    let recordings_of = |agent: &'_ Agent| {
        agent
            .source(owner.tier)
            .and_then(RunSource::recordings)
            .cloned()
    };
    let (Some(old), Some(new)) = (recordings_of(before), recordings_of(after)) else {
        return BTreeSet::new();
    };
    let [of_base, of_head] = [old, new].map(|folder| folder.child(owner.agent.as_str()));
    let old = lists.base.take(&of_base).unwrap_or_default();
    let new = lists.head.take(&of_head).unwrap_or_default();
    if old.keys().eq(new.keys()) {
        lists.base.keep(of_base, old);
        lists.head.keep(of_head, new);
        return BTreeSet::new();
    }
    let (old, new) = (recordings(old), recordings(new));
    let cases: BTreeSet<&String> = old.keys().map(|(case, _)| case).collect();
    let is_added = |key: &&CaseSample| cases.contains(&key.0) && !old.contains_key(*key);
    let mut added: Vec<&CaseSample> = new.keys().filter(is_added).collect();
    let [before, after] = &with_all_recordings(before, after);
    let uses = after.source(owner.tier).map(RecordingUse::of);
    // A changed agent is recorded again, with any number of samples. Where recordings answer its calls, it may keep them.
    if added.is_empty()
        || matches!(
            agent_file_change(sides, before, after),
            Ok(AgentFileChange::Changed)
        )
    {
        if uses != Some(RecordingUse::AnswersCalls) {
            return BTreeSet::new();
        }
        added.retain(|(case, _)| keeps_any(sides, case, &old, &new));
    }
    let run = |(case, sample): &CaseSample| {
        let key = RunKey {
            suite: owner.suite.clone(),
            agent: owner.agent.clone(),
            case: CaseId::new(case).ok()?,
        };
        Some((key, *sample))
    };
    added.into_iter().filter_map(run).collect()
}

/// Whether a case has a recording of the base commit that is the same now.
fn keeps_any(sides: &Sides<'_>, case: &str, old: &Recordings, new: &Recordings) -> bool {
    let of_case = old.range((case.to_owned(), 0)..=(case.to_owned(), u32::MAX));
    let mut both = of_case.filter_map(|(key, before)| Some((before, new.get(key)?)));
    both.any(|(before, now)| difference(sides, &before.file, &now.file) == RecordingChange::Same)
}

/// The recordings of an agent in one tier that the base commit does not hold: new ones, and those that differ in more than votes or
/// their form.
///
/// # Errors
/// Why they cannot be listed.
pub fn not_of_base(
    sides: &Sides<'_>,
    owner: &RunsOf<'_>,
    before: Option<&Agent>,
    after: &Agent,
) -> Result<Vec<RepoPath>, String> {
    let Some(folder) = after.source(owner.tier).and_then(RunSource::recordings) else {
        return Ok(Vec::new());
    };
    let new = recordings(recorded_files(
        sides.head,
        &folder.child(owner.agent.as_str()),
    )?);
    let old = match before.and_then(|agent| agent.source(owner.tier)?.recordings()) {
        Some(folder) => recordings(recorded_files(
            sides.base,
            &folder.child(owner.agent.as_str()),
        )?),
        None => Recordings::new(),
    };
    let is_of_base = |key: &CaseSample, file: &RepoPath| {
        old.get(key)
            .is_some_and(|before| match difference(sides, &before.file, file) {
                RecordingChange::Same | RecordingChange::Votes => true,
                RecordingChange::Digests
                | RecordingChange::Added
                | RecordingChange::Content
                | RecordingChange::Unread => false,
            })
    };
    let found = new
        .into_iter()
        .filter(|(key, recorded)| !is_of_base(key, &recorded.file));
    Ok(found.map(|(_, recorded)| recorded.file).collect())
}
