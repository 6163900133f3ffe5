//! The digests that an imported recording keeps: of the agent as it is now, and of what its case asks.

use crate::app::cli::ImportArgs;
use crate::app::cli_error::CliError;
use crate::app::freshness::{RecordingDigests, recording_digests};
use crate::app::plan::{LoadedSuite, Plan, Selection, plan};
use crate::app::run::located;
use crate::diag::{Diagnostic, Diagnostics};
use crate::format::SourceText;
use crate::format::transcript::Transcript;
use crate::model::{AgentName, Ask, CaseId, RunKey, RunRecord, RunSource};
use crate::suites::{Files, has_rounds, input_digest, is_of_another_case, is_same_text, is_shown_in, query};
use crate::text::line;
use crate::world::{Disk, World};

/// Where a config is looked for that nobody named.
const CONFIG: &str = "goldgate.yaml";
/// How many characters of a query are shown.
const SHOWN: usize = 80;

/// The config's suites, where there is a config.
pub struct Digests {
    known: Option<(Disk, Plan)>,
    /// The folder of `--out`.
    out: String,
}

impl Digests {
    /// Reads the config.
    ///
    /// # Errors
    /// A config that cannot be read, and one that was named and is not there.
    pub fn open(args: &ImportArgs, world: &World) -> Result<Self, CliError> {
        let out = args.out.clone();
        let (disk, file) = Disk::of_config(args.config.as_deref().unwrap_or(CONFIG))?;
        if args.config.is_none() && !disk.holds(&file) {
            return Ok(Self { known: None, out });
        }
        let plan = plan(&disk, &file, Selection::default(), &world.clock)?;
        Ok(Self { known: Some((disk, plan)), out })
    }

    /// Adds the digests to a record; gives what has to be said where one of them is missing. Without a config nothing is known,
    /// and the report says so later.
    ///
    /// # Errors
    /// A run that was asked something else than its case asks, unless it is kept all the same.
    pub fn add(
        &self,
        record: &mut RunRecord,
        run: &Transcript,
        source: &SourceText,
        force: bool,
    ) -> Result<Option<String>, Diagnostics> {
        let Some((disk, plan)) = &self.known else { return Ok(None) };
        let (agent, case) = (&record.agent, &record.case);
        let Some((opened, digests)) = self.digests(disk, plan, agent, case)? else {
            let note = format!("no suite of {} has the case {case} of the agent {agent}", plan.config.file);
            return Ok(Some(format!("{note}: the recording keeps no digests")));
        };
        let provenance = &mut record.provenance.provenance;
        provenance.fingerprint = digests.agent;
        if let Some(package) = opened.prompts.get(agent) {
            let path = opened.config.agents.get(agent).and_then(|agent| agent.prompt.as_ref());
            provenance.prompt_package = path.map(ToString::to_string);
            provenance.prompt_sha256 = Some(package.sha256.clone());
        }
        let Some(ask) = digests.ask else { return Ok(None) };
        match another_input(&ask, run) {
            InputMatch::Same => {
                record.provenance.provenance.input_sha256 = Some(input_digest(&ask, disk)?.sha256);
                Ok(None)
            }
            InputMatch::Unknown(why) => Ok(Some(format!("{case}: {why}: its input is unknown"))),
            InputMatch::Another(why) if force => Ok(Some(format!("{case}: kept with an unknown input: {why}"))),
            InputMatch::Another(why) => {
                let what = format!("this run is not of the case \"{case}\": {why}");
                let help = "name the case that it is of: --case ID; or keep it with an unknown input: --force";
                Err(source.problem(run.at, "another-input", what, help).into())
            }
        }
    }

    /// The suite that replays the recording, and the digests; a suite that replays from `--out` goes before others.
    fn digests<'p>(
        &self,
        disk: &Disk,
        plan: &'p Plan,
        agent: &AgentName,
        case: &CaseId,
    ) -> Result<Option<(&'p LoadedSuite, RecordingDigests)>, Diagnostic> {
        let mut suites: Vec<&LoadedSuite> =
            plan.suites.iter().filter(|opened| opened.config.agents.contains_key(agent)).collect();
        suites.sort_by_key(|opened| !self.is_replayed_from_out(opened, agent));
        for opened in suites {
            let key = RunKey { suite: opened.config.id.clone(), agent: agent.clone(), case: case.clone() };
            if let Some(digests) = recording_digests(opened, &key, disk as &dyn Files)? {
                return Ok(Some((opened, digests)));
            }
        }
        Ok(None)
    }

    fn is_replayed_from_out(&self, opened: &LoadedSuite, agent: &AgentName) -> bool {
        let Ok((_, inside)) = located(&format!("{}/0.json", self.out)) else { return false };
        let agent = opened.config.agents.get(agent);
        match agent.and_then(|agent| agent.deterministic.as_ref()) {
            Some(RunSource::Replay(folder)) => *folder == inside.parent(),
            Some(RunSource::Live(_)) | None => false,
        }
    }
}

/// Whether a run was asked what its case asks.
enum InputMatch {
    /// It was.
    Same,
    /// Nobody can tell, for this reason.
    Unknown(&'static str),
    /// It was asked something else.
    Another(String),
}

fn another_input(ask: &Ask, run: &Transcript) -> InputMatch {
    let prompt = run.prompt.as_deref().unwrap_or_default();
    if let Some(more) = &run.interjected {
        if has_rounds(ask) {
            return InputMatch::Unknown("the case does not say what its client answers in later rounds");
        }
        return InputMatch::Another(format!(
            "the user or the system went on with {:?} before the last answer, and the case does not",
            line(more, SHOWN)
        ));
    }
    match (query(ask), &run.query) {
        (Some(wanted), Some(found)) if is_same_text(wanted, found) => InputMatch::Same,
        (Some(wanted), Some(found)) => InputMatch::Another(format!(
            "it was asked {:?}, the case asks {:?}",
            line(found, SHOWN),
            line(wanted, SHOWN)
        )),
        (Some(_), None) => InputMatch::Unknown("the transcript holds no message of the user"),
        (None, _) if is_shown_in(ask, prompt) => InputMatch::Same,
        (None, _) if is_of_another_case(ask, prompt) => InputMatch::Another("it was shown another document".to_owned()),
        (None, _) => InputMatch::Unknown("the transcript's prompt does not show what the case asks"),
    }
}
