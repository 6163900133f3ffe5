//! `goldgate digests`: writes the current digests into recordings whose agent has the same files, in another place or list.

use std::collections::{BTreeMap, BTreeSet};

use crate::app::cli::DigestsArgs;
use crate::app::cli_error::CliError;
use crate::app::pipeline::freshness::{AgentFileDigests, CurrentAgents};
use crate::app::pipeline::plan::plan;
use crate::app::pipeline::selection::Selection;
use crate::format::run_v1;
use crate::golden_changes::{
    BaseConfig, RecordedCases, Sides, base_config, changed_contents, record_again, recording_files,
    same_suite,
};
use crate::model::{Agent, AgentName, Config, RecordingAge, RepoPath, SuiteConfig};
use crate::render::plural;
use crate::text::{first_of, short_commit};
use crate::world::{BaseTree, Disk, Git, ReadOnce, World};

/// The exit code if the recordings of an agent have to be made again.
const NOT_SAME: u8 = 3;

/// Writes the digests of the current files of each agent into its recordings, if they were current on the base commit and no content changed
/// since. Returns the exit code.
///
/// # Errors
/// Bad input, a commit that cannot be read, or files that cannot be written.
pub fn digests(args: &DigestsArgs, world: &World) -> Result<u8, CliError> {
    let (disk, file) = Disk::of_config(&args.config)?;
    let chosen = &args.chosen;
    let wanted = Selection {
        suites: chosen.suite.clone(),
        agents: chosen.agent.clone(),
        ..Selection::default()
    };
    let plan = plan(&disk, &file, wanted, &world.clock)?;
    let git = Git::of(&disk);
    let tip = git
        .commit(&args.base)
        .map_err(|error| anyhow::anyhow!("--base {error:#}"))?;
    // A pull request is compared with the commit where it began.
    let commit = git.fork_point(&tip)?;
    let head = ReadOnce::of(&disk);
    let base = BaseTree::open(&git, &commit, &head)?;
    let before = match base_config(&base, &file) {
        BaseConfig::Known(config) => config,
        BaseConfig::Absent(_) => {
            return Err(anyhow::anyhow!(
                "--base {}: commit {} has no {file}",
                args.base,
                short_commit(&commit)
            )
            .into());
        }
        BaseConfig::Unreadable(why) => {
            return Err(anyhow::anyhow!("--base {}: {why}", args.base).into());
        }
    };
    let renewal = Renewal {
        sides: Sides {
            base: &base,
            head: &head,
        },
        config: &plan.config,
        since: short_commit(&commit),
        now: CurrentAgents::new(&plan.config, &head),
        then: CurrentAgents::new(&before, &base),
    };
    let mut renewed: Vec<RenewedAgent> = Vec::new();
    for loaded in &plan.suites {
        let suite = &loaded.config;
        let old = same_suite(&before, suite);
        for (name, agent) in suite
            .agents
            .iter()
            .filter(|(name, _)| plan.wanted.agent(name))
        {
            let before = old.and_then(|suite| suite.agents.get(name));
            renewed.push(renewal.agent(suite, name, before, agent)?);
        }
    }
    // Nothing is written before everything was read.
    for (file, text) in renewed.iter().flat_map(|agent| &agent.texts) {
        disk.replace_input(file, text.as_bytes())?;
    }
    let said: Vec<&String> = renewed
        .iter()
        .filter_map(|agent| agent.said.as_ref())
        .collect();
    said.iter().for_each(|line| world.say(&format!("{line}\n")));
    if said.is_empty() {
        world.say("nothing to do: no recording has outdated digests\n");
    }
    let is_whole = renewed.iter().all(|agent| agent.is_whole);
    Ok(if is_whole { 0 } else { NOT_SAME })
}

/// What is compared.
struct Renewal<'a> {
    sides: Sides<'a>,
    config: &'a Config,
    /// The base commit, for messages.
    since: &'a str,
    now: CurrentAgents<'a>,
    then: CurrentAgents<'a>,
}

/// The recordings of one agent that get other digests.
struct RenewedAgent {
    texts: BTreeMap<RepoPath, String>,
    said: Option<String>,
    /// Whether all recordings are current then.
    is_whole: bool,
}

impl Renewal<'_> {
    fn agent(
        &self,
        suite: &SuiteConfig,
        name: &AgentName,
        before: Option<&Agent>,
        after: &Agent,
    ) -> Result<RenewedAgent, CliError> {
        let whose = format!("{}/{name}", suite.id);
        let cannot = |why: String| anyhow::anyhow!("while comparing the files of {whose}: {why}");
        let changed = match before {
            Some(before) => changed_contents(&self.sides, before, after).map_err(cannot)?,
            None => None,
        };
        let mut one = RenewedAgent {
            texts: BTreeMap::new(),
            said: None,
            is_whole: true,
        };
        let mut stale = Vec::new();
        let folders: BTreeSet<&RepoPath> = after.recordings().collect();
        for folder in &folders {
            for file in recording_files(self.sides.head, folder, name).map_err(cannot)? {
                let text = self.sides.head.text(&file)?.text;
                let then = || self.then.age(&suite.id, name, &text) == RecordingAge::Fresh;
                match self.now.age(&suite.id, name, &text) {
                    RecordingAge::Stale | RecordingAge::StaleNoted => {}
                    RecordingAge::Fresh | RecordingAge::Unknown => continue,
                }
                match self.now.digests(&suite.id, name).filter(|_| then()) {
                    Some(AgentFileDigests {
                        fingerprint,
                        prompt_sha256,
                    }) => {
                        let text =
                            run_v1::with_digests(&text, &fingerprint, prompt_sha256.as_deref());
                        match self.now.age(&suite.id, name, &text) {
                            RecordingAge::Fresh => drop(one.texts.insert(file, text)),
                            RecordingAge::Stale
                            | RecordingAge::StaleNoted
                            | RecordingAge::Unknown => stale.push(file),
                        }
                    }
                    None => stale.push(file),
                }
            }
        }
        if let Some(changed) =
            changed.filter(|changed| !changed.is_empty() && !one.texts.is_empty())
        {
            let names: Vec<&str> = changed.iter().map(RepoPath::as_str).collect();
            let why = format!("{} changed since {}", first_of(&names), self.since);
            return Ok(self.refused(suite, name, after, &why));
        }
        if !stale.is_empty() {
            let names: Vec<&str> = stale.iter().map(RepoPath::as_str).collect();
            let why = format!(
                "{} not current on {} either ({}); --base names the commit on which they were",
                plural(stale.len(), "recording was", "recordings were"),
                self.since,
                first_of(&names)
            );
            return Ok(self.refused(suite, name, after, &why));
        }
        if !one.texts.is_empty() {
            let count = plural(one.texts.len(), "recording has", "recordings have");
            let them = if one.texts.len() == 1 { "it" } else { "them" };
            one.said = Some(format!(
                "{whose}: {count} the current digests now; commit {them}"
            ));
        }
        Ok(one)
    }

    fn refused(
        &self,
        suite: &SuiteConfig,
        name: &AgentName,
        agent: &Agent,
        why: &str,
    ) -> RenewedAgent {
        let folder = agent.recordings().next().map_or("DIR", RepoPath::as_str);
        let again = record_again(
            self.config,
            &suite.id,
            Some(name),
            folder,
            RecordedCases::Missing,
        );
        let said = format!("{}/{name}: {why}; no digest was written; {again}", suite.id);
        RenewedAgent {
            texts: BTreeMap::new(),
            said: Some(said),
            is_whole: false,
        }
    }
}
