//! The command that records an agent again.

use crate::model::{
    AgentName, CaseId, Config, Protocol, RecordingPlace, RunSource, SuiteId, Tier, Transport,
};
use crate::text::{as_argument, config_option};

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

/// What makes new recordings of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RecordingMeans {
    /// Its target, in the model tier.
    Run,
    /// Its target with `capture`, in a suite without a model tier.
    Capture,
    /// A command that the config does not name, or another program whose transcripts are imported.
    Unknown,
}

impl RecordingMeans {
    fn of(config: &Config, suite: &SuiteId, name: Option<&AgentName>) -> Self {
        let Some(suite) = config.suite(suite) else {
            return Self::Unknown;
        };
        let agent = match name {
            Some(name) => suite.agents.get(name),
            None => suite.agents.values().next(),
        };
        let sources = agent
            .into_iter()
            .flat_map(|agent| [&agent.deterministic, &agent.model])
            .flatten();
        let Some(live) = sources.filter_map(RunSource::live).next() else {
            return Self::Unknown;
        };
        let transport = config
            .targets
            .get(&live.target)
            .map(|target| &target.transport);
        match transport {
            _ if suite.tiers.contains(&Tier::Model) => Self::Run,
            Some(Transport::Command {
                protocol: Protocol::Captured(_),
                ..
            }) => Self::Capture,
            Some(_) | None => Self::Unknown,
        }
    }
}

/// What to do to get new recordings: with a target, one command; without one, the command needs the agent's program, or the agent runs elsewhere
/// and its transcripts are imported.
/// Without a name it concerns all agents of the suite.
pub fn record_again(
    config: &Config,
    suite: &SuiteId,
    name: Option<&AgentName>,
    place: &RecordingPlace,
    cases: RecordedCases<'_>,
) -> String {
    let RecordingPlace::Folder(folder) = place else {
        return format!("run the program that writes {place} again");
    };
    let means = RecordingMeans::of(config, suite, name);
    let (config, folder) = (
        config_option(config.file.as_str()),
        as_argument(folder.as_str()),
    );
    let cases = cases.options();
    let whose = name.map_or(String::new(), |name| format!(" --agent {name}"));
    match means {
        RecordingMeans::Run => {
            format!(
                "record again: `goldgate run{config} --tier model --suite {suite}{whose} --record {folder}{cases}`"
            )
        }
        RecordingMeans::Capture => {
            format!("record again: `goldgate record{config} --suite {suite}{whose}{cases}`")
        }
        RecordingMeans::Unknown => format!(
            "record again with `goldgate record{config} --suite {suite}{whose}{cases} -- COMMAND`, or import new transcripts: \
             `goldgate import PATH…{config}{whose} --out {folder} --force`"
        ),
    }
}

/// What to do to get the recordings that an agent lacks.
pub fn record_missing(
    config: &Config,
    suite: &SuiteId,
    name: &AgentName,
    place: &RecordingPlace,
) -> String {
    let RecordingPlace::Folder(folder) = place else {
        return format!("run the program that writes {place}");
    };
    let means = RecordingMeans::of(config, suite, Some(name));
    let (config, folder) = (
        config_option(config.file.as_str()),
        as_argument(folder.as_str()),
    );
    let whose = format!("--suite {suite} --agent {name}");
    match means {
        RecordingMeans::Run => {
            format!(
                "record what is missing: `goldgate run{config} --tier model {whose} --record {folder} --missing`"
            )
        }
        RecordingMeans::Capture => {
            format!("record what is missing: `goldgate record{config} {whose} --missing`")
        }
        RecordingMeans::Unknown => format!(
            "record what is missing with `goldgate record{config} {whose} --missing -- COMMAND`, or import the agent's transcripts: \
             `goldgate import PATH…{config} --agent {name} --out {folder}`"
        ),
    }
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

/// The command that adds samples to a case until it has this many or one is right; those that are up to date stay.
pub fn record_more(
    config: &Config,
    suite: &SuiteId,
    name: &AgentName,
    folder: &str,
    (case, samples): (&CaseId, usize),
) -> String {
    let means = RecordingMeans::of(config, suite, Some(name));
    let (config, folder) = (config_option(config.file.as_str()), as_argument(folder));
    let case = as_argument(case.as_str());
    let whose =
        format!("--suite {suite} --agent {name} --case {case} --samples {samples} --until-right");
    match means {
        RecordingMeans::Run => {
            format!("goldgate run{config} --tier model {whose} --record {folder}")
        }
        RecordingMeans::Capture => format!("goldgate record{config} {whose}"),
        RecordingMeans::Unknown => format!("goldgate record{config} {whose} -- COMMAND"),
    }
}
