//! The command that records an agent again: [`RecordCommand`].

use std::collections::BTreeSet;

use crate::format::run_v1::stated_origin;
use crate::model::{
    AgentName, CaseId, Config, IMPORTED, Protocol, RECORDED_COMMAND, RecordingPlace, RunSource,
    SuiteId, Tier, Transport,
};
use crate::text::{as_argument, config_option, line};

/// Which cases of an agent are recorded again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordedCases<'a> {
    /// All.
    All,
    /// Those without current recordings.
    Missing,
    /// These.
    Named(&'a [&'a str]),
}

impl RecordedCases<'_> {
    fn options(self) -> String {
        match self {
            Self::All => String::new(),
            Self::Missing => " --missing".to_owned(),
            Self::Named(cases) => cases
                .iter()
                .map(|case| format!(" --case {}", as_argument(case)))
                .collect(),
        }
    }
}

/// What made a recording, as it states itself.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Maker {
    /// `goldgate import`, and what it was given; nothing if unknown.
    Import(Vec<String>),
    /// `goldgate record`, and the agent's command; nothing if unknown.
    Record(Vec<String>),
    /// A target of a config, or a program of the user's own.
    Other,
}

/// The longest arguments of a command that messages name, in characters.
const ARGUMENTS: usize = 300;

impl Maker {
    /// What the text of a recording states.
    pub fn stated_in(text: &str) -> Self {
        let stated = stated_origin(text);
        Self::of(stated.target(), &stated.arguments())
    }

    fn is_import(&self) -> bool {
        matches!(self, Self::Import(_))
    }

    fn is_record(&self) -> bool {
        matches!(self, Self::Record(_))
    }

    /// By the target and the arguments that a recording states.
    pub fn of(target: &str, arguments: &[String]) -> Self {
        let length: usize = arguments.iter().map(String::len).sum();
        let arguments =
            if length <= ARGUMENTS && arguments.iter().all(|argument| is_plain(argument)) {
                arguments.to_vec()
            } else {
                Vec::new()
            };
        if target.starts_with(IMPORTED) {
            Self::Import(arguments)
        } else if target == RECORDED_COMMAND {
            Self::Record(arguments)
        } else {
            Self::Other
        }
    }
}

/// What makes new recordings of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
enum RecordingMeans {
    /// Its target, in the model tier.
    Run,
    /// Its target with `capture`, in a suite without a model tier.
    Capture,
    /// A command that the config does not name.
    Record(Vec<String>),
    /// Another program, whose transcripts are imported.
    Import(Vec<String>),
    /// A program of the user's own, which writes recordings.
    Own,
    /// A command that the config does not name, or another program whose transcripts are imported.
    Unknown,
}

/// The agent whose recordings a command makes.
#[derive(Clone, Copy)]
pub struct RecordCommand<'a> {
    /// The config.
    pub config: &'a Config,
    /// The suite.
    pub suite: &'a SuiteId,
    /// The agent.
    pub agent: &'a AgentName,
    /// What made the recordings that it has.
    pub makers: &'a BTreeSet<Maker>,
}

impl RecordCommand<'_> {
    /// What makes its recordings: what made the present ones, else what the config names.
    fn means(&self) -> RecordingMeans {
        let mut makers = self.makers.iter();
        let (first, has_several) = (makers.next(), makers.next().is_some());
        match (first, self.by_config()) {
            (Some(Maker::Import(arguments)), _) if !arguments.is_empty() && !has_several => {
                RecordingMeans::Import(arguments.clone())
            }
            (Some(Maker::Record(arguments)), _) if !arguments.is_empty() && !has_several => {
                RecordingMeans::Record(arguments.clone())
            }
            (_, Some(means)) => means,
            (Some(Maker::Import(_)), None) if self.makers.iter().all(Maker::is_import) => {
                RecordingMeans::Import(unknown().1)
            }
            (Some(Maker::Record(_)), None) if self.makers.iter().all(Maker::is_record) => {
                RecordingMeans::Record(unknown().0)
            }
            (Some(Maker::Other), None) => RecordingMeans::Own,
            (Some(Maker::Import(_) | Maker::Record(_)) | None, None) => RecordingMeans::Unknown,
        }
    }

    /// What the config names.
    fn by_config(&self) -> Option<RecordingMeans> {
        let suite = self.config.suite(self.suite)?;
        let agent = suite.agents.get(self.agent)?;
        let mut sources = [&agent.deterministic, &agent.model].into_iter().flatten();
        let live = sources.find_map(RunSource::live)?;
        if suite.tiers.contains(&Tier::Model) {
            return Some(RecordingMeans::Run);
        }
        let target = self.config.targets.get(&live.target)?;
        match target.transport {
            Transport::Command {
                protocol: Protocol::Captured(_),
                ..
            } => Some(RecordingMeans::Capture),
            Transport::Command { .. } | Transport::Model(_) | Transport::Http(_) => None,
        }
    }

    /// ` --config FILE`, where a command needs it.
    fn config_option(&self) -> String {
        config_option(self.config.file.as_str())
    }

    /// `goldgate record`, for a command that follows.
    fn record_command(&self, options: &str, command: &[String]) -> String {
        format!(
            "goldgate record{} --suite {} --agent {}{options} -- {}",
            self.config_option(),
            self.suite,
            self.agent,
            words_of(command)
        )
    }

    /// `goldgate import`, into a folder.
    fn import_command(&self, arguments: &[String], folder: &str) -> String {
        // Known arguments name the agent where the transcripts do not.
        let agent = if *arguments == [PATHS] {
            format!(" --agent {}", self.agent)
        } else {
            String::new()
        };
        format!(
            "goldgate import {}{}{agent} --out {folder}",
            words_of(arguments),
            self.config_option()
        )
    }

    /// What to do to get new recordings: one command, where it is known what makes them.
    pub fn record_again_hint(&self, place: &RecordingPlace, cases: RecordedCases<'_>) -> String {
        let RecordingPlace::Folder(folder) = place else {
            return format!("run the program that writes {place} again");
        };
        let folder = as_argument(folder.as_str());
        let cases = cases.options();
        let (config, suite, agent) = (self.config_option(), self.suite, self.agent);
        match self.means() {
            RecordingMeans::Run => format!(
                "record again: `goldgate run{config} --tier model --suite {suite} --agent {agent} --record {folder}{cases}`"
            ),
            RecordingMeans::Capture => format!(
                "record again: `goldgate record{config} --suite {suite} --agent {agent}{cases}`"
            ),
            RecordingMeans::Record(command) => {
                format!("record again: `{}`", self.record_command(&cases, &command))
            }
            RecordingMeans::Import(arguments) => format!(
                "import new transcripts: `{} --force`",
                self.import_command(&arguments, &folder)
            ),
            RecordingMeans::Own => format!("run the program that writes {folder} again"),
            RecordingMeans::Unknown => {
                let (command, paths) = unknown();
                format!(
                    "record again with `{}`, or import new transcripts: `{} --force`",
                    self.record_command(&cases, &command),
                    self.import_command(&paths, &folder)
                )
            }
        }
    }

    /// What to do to get the recordings that it lacks.
    pub fn record_missing_hint(&self, place: &RecordingPlace) -> String {
        let RecordingPlace::Folder(folder) = place else {
            return format!("run the program that writes {place}");
        };
        let folder = as_argument(folder.as_str());
        let (config, suite, agent) = (self.config_option(), self.suite, self.agent);
        match self.means() {
            RecordingMeans::Run => format!(
                "record what is missing: `goldgate run{config} --tier model --suite {suite} --agent {agent} --record {folder} --missing`"
            ),
            RecordingMeans::Capture => format!(
                "record what is missing: `goldgate record{config} --suite {suite} --agent {agent} --missing`"
            ),
            RecordingMeans::Record(command) => format!(
                "record what is missing: `{}`",
                self.record_command(" --missing", &command)
            ),
            RecordingMeans::Import(arguments) => format!(
                "import the agent's transcripts: `{}`",
                self.import_command(&arguments, &folder)
            ),
            RecordingMeans::Own => {
                format!("run the program that writes {folder}")
            }
            RecordingMeans::Unknown => {
                let (command, paths) = unknown();
                format!(
                    "record what is missing with `{}`, or import the agent's transcripts: `{}`",
                    self.record_command(" --missing", &command),
                    self.import_command(&paths, &folder)
                )
            }
        }
    }

    /// The command that adds samples to a case until it has this many or one is right; those that are up to date stay.
    pub fn record_more_command(&self, folder: &str, (case, samples): (&CaseId, usize)) -> String {
        let case = as_argument(case.as_str());
        let options = format!(" --case {case} --samples {samples} --until-right");
        let (config, suite, agent) = (self.config_option(), self.suite, self.agent);
        match self.means() {
            RecordingMeans::Run => format!(
                "goldgate run{config} --tier model --suite {suite} --agent {agent}{options} --record {}",
                as_argument(folder)
            ),
            RecordingMeans::Capture => {
                format!("goldgate record{config} --suite {suite} --agent {agent}{options}")
            }
            RecordingMeans::Record(command) => self.record_command(&options, &command),
            RecordingMeans::Import(_) | RecordingMeans::Own | RecordingMeans::Unknown => {
                self.record_command(&options, &unknown().0)
            }
        }
    }

    /// Whether a program of the user's own wrote the recordings: it may state no digests.
    pub fn is_own(&self) -> bool {
        self.means() == RecordingMeans::Own
    }
}

/// The placeholder of paths.
const PATHS: &str = "PATH…";

/// The placeholders of a command and of paths, where nothing is known.
fn unknown() -> (Vec<String>, Vec<String>) {
    (vec!["COMMAND".to_owned()], vec![PATHS.to_owned()])
}

/// Whether an argument can be shown within backticks, on one line.
fn is_plain(argument: &str) -> bool {
    !argument.contains('`') && line(argument, ARGUMENTS) == argument
}

/// Words as arguments of a shell.
fn words_of(words: &[String]) -> String {
    let mut arguments = Vec::new();
    for word in words {
        arguments.push(match word.as_str() {
            PATHS => word.clone(),
            _ => as_argument(word),
        });
    }
    arguments.join(" ")
}

/// The command that writes today's digests into recordings; `options` follow the filters.
pub fn stamp_command(
    config: &Config,
    suite: &SuiteId,
    name: &AgentName,
    cases: RecordedCases<'_>,
    options: &str,
) -> String {
    format!(
        "goldgate stamp{} --suite {suite} --agent {name}{}{options}",
        config_option(config.file.as_str()),
        cases.options()
    )
}
