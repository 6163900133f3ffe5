//! The action's inputs: what a workflow sets under `with:`.

use std::path::Path;

use crate::diag::{Code, Diagnostic};
use crate::evaluation::run_options::{AgentScope, DecidingTiers};
use crate::model::{Authority, RepoPath, Report, Shard, Tier, Word, words};
use crate::publish::ConfigKey;
use crate::render::CliError;
use crate::world::Env;

words! {
    /// What the step does. What the gate does, the event says.
    pub enum ActionMode {
        /// The gate.
        Run = "run",
        /// Maintains one pull request with the moved baseline of the default branch.
        BaselinePr = "baseline-pr",
        /// Records a pull request again after a label.
        Record = "record",
    }
}

/// The validated inputs.
#[derive(Clone)]
pub struct ActionInputs {
    /// What the step does.
    pub mode: ActionMode,
    /// The tiers to grade.
    pub tiers: Vec<Tier>,
    /// Whether a failed gate fails the job.
    pub authority: Authority,
    /// Which tiers decide the verdict if both are requested.
    pub deciding: DecidingTiers,
    /// Whether only the agents run that the change can affect.
    pub scope: AgentScope,
    /// The config, relative to the workspace, or patterns of several.
    pub config: String,
    /// How many configs the step judges.
    pub configs: usize,
    /// Only these suites; all if empty.
    pub suites: Vec<String>,
    /// Samples per pair of agent and case, 1 to 1000.
    pub samples: Option<u32>,
    /// The budget of live calls, in US dollars.
    pub max_cost_usd: Option<f64>,
    /// The shard of the cases that this job grades.
    pub shard: Option<Shard>,
    /// The folder with one folder per shard to join, relative to the workspace.
    pub parts: Option<String>,
    /// Whether to write a comment.
    pub comment: bool,
    /// The key of the comment, `default` for the config's own key.
    pub comment_key: String,
    /// The baseline file to use instead of the config's.
    pub baseline: Option<String>,
    /// The folder of the results, relative to the workspace.
    pub out: String,
}

impl ActionInputs {
    /// Returns the config's path relative to the repository, for modes without a checkout.
    ///
    /// # Errors
    /// A path that leads out of the repository.
    pub fn config_file(&self) -> Result<RepoPath, Diagnostic> {
        path_of_input("config", &self.config)
    }

    /// Whether the config is given by patterns, separated by white space.
    pub fn has_patterns(&self) -> bool {
        self.config.contains(['*', '?', '\n'])
    }

    /// Returns the inputs for one of the configs that this step judges. Each has a folder of results of its own.
    pub fn of_config(&self, config: &str, configs: usize) -> Result<Self, Diagnostic> {
        let mut inputs = Self {
            config: config.to_owned(),
            configs,
            ..self.clone()
        };
        let key = ConfigKey::new("", &inputs.config_file()?);
        if self.has_patterns() {
            inputs.out = format!("{}/{}", self.out, key.as_str());
            inputs.comment_key = key.as_str().to_owned();
        }
        Ok(inputs)
    }

    /// Returns the key of this step's comment.
    ///
    /// # Errors
    /// As [`Self::config_file`].
    pub fn key_of_step(&self) -> Result<ConfigKey, Diagnostic> {
        if self.has_patterns() {
            return Ok(self.key_of_patterns());
        }
        Ok(self.key_of(&self.config_file()?))
    }

    /// The same for the results of a step.
    pub fn key_of_results(&self, reports: &[&Report]) -> ConfigKey {
        match reports {
            [report] if !self.has_patterns() => self.key(report),
            _ => self.key_of_patterns(),
        }
    }

    fn key_of_patterns(&self) -> ConfigKey {
        self.key_of(&RepoPath::root().child("goldgate.yaml"))
    }

    /// Whether the runs are also judged by the rules of a base commit.
    pub fn is_compared(&self) -> bool {
        self.authority == Authority::Blocking || self.tiers.contains(&Tier::Deterministic)
    }

    /// Returns the comment key of a config.
    pub fn key_of(&self, config: &RepoPath) -> ConfigKey {
        ConfigKey::new(&self.comment_key, config)
    }

    /// Returns the comment key of the config that a report was graded with.
    pub fn key(&self, report: &Report) -> ConfigKey {
        self.key_of(report.config.as_ref().unwrap_or(&RepoPath::root()))
    }

    /// Reads the inputs from the environment.
    ///
    /// # Errors
    /// An invalid value.
    pub fn read(env: &Env) -> Result<Self, CliError> {
        let values = InputValues(env);
        let mode = values.get("mode").unwrap_or(ActionMode::Run.as_str());
        let Some(mode) = ActionMode::of_word(mode) else {
            let known: Vec<&str> = ActionMode::ALL
                .into_iter()
                .map(ActionMode::as_str)
                .collect();
            return Err(refuse("mode", mode, &format!("write one of {}", known.join(", "))).into());
        };
        let tiers = match values.get("tier").unwrap_or("deterministic") {
            "deterministic" => vec![Tier::Deterministic],
            "model" => vec![Tier::Model],
            "all" => vec![Tier::Deterministic, Tier::Model],
            word => return Err(refuse("tier", word, "write deterministic, model or all").into()),
        };
        let blocking = values
            .truth("blocking")?
            .unwrap_or(tiers.contains(&Tier::Deterministic));
        if values.get("parts").is_some() && values.get("shard").is_some() {
            let help = "leave shard out: the step with parts joins all of them";
            return Err(refuse("shard", values.get("shard").unwrap_or_default(), help).into());
        }
        let scope = values.scope(&tiers, blocking)?;
        let (samples, max_cost_usd) = (values.samples()?, values.max_cost_usd()?);
        let config = values.get("config").unwrap_or("goldgate.yaml");
        let is_whole = values.get("parts").is_none() && values.get("shard").is_none();
        let inputs = Self {
            mode,
            tiers,
            scope,
            max_cost_usd,
            shard: shard(values.get("shard"))?,
            authority: if blocking {
                Authority::Blocking
            } else {
                Authority::Advisory
            },
            deciding: match values.get("blocking") {
                Some(_) if blocking => DecidingTiers::Every,
                Some(_) | None => DecidingTiers::Deterministic,
            },
            config: config.to_owned(),
            configs: 1,
            suites: values
                .get("suites")
                .unwrap_or_default()
                .split([',', '\n', ' '])
                .filter(|id| !id.is_empty())
                .map(str::to_owned)
                .collect(),
            samples,
            comment: values.truth("comment")?.unwrap_or(true),
            comment_key: values.comment_key()?,
            baseline: values.get("baseline").map(str::to_owned),
            parts: values.get("parts").map(str::to_owned),
            out: values.get("out").unwrap_or(".goldgate/report").to_owned(),
        };
        if inputs.has_patterns() && (!is_whole || mode == ActionMode::Record) {
            let help = "name one config: shards and recordings are of one";
            return Err(refuse("config", config, help).into());
        }
        Ok(inputs)
    }
}

/// The texts of the inputs; an empty one counts as not set.
struct InputValues<'a>(&'a Env);

impl<'a> InputValues<'a> {
    fn get(&self, name: &str) -> Option<&'a str> {
        let text = self.0.get(&format!("INPUT_{}", name.to_ascii_uppercase()));
        text.map(str::trim).filter(|text| !text.is_empty())
    }

    fn truth(&self, name: &str) -> Result<Option<bool>, Diagnostic> {
        match self.get(name) {
            None => Ok(None),
            Some("true") => Ok(Some(true)),
            Some("false") => Ok(Some(false)),
            Some(word) => Err(refuse(name, word, "write true or false")),
        }
    }

    fn comment_key(&self) -> Result<String, Diagnostic> {
        let key = self.get("comment-key").unwrap_or("default");
        if !ConfigKey::is_key(key) {
            return Err(refuse(
                "comment-key",
                key,
                "write at most 40 letters (a-z, A-Z), digits, `_`, `.` and `-`; the first and the last are a letter, a digit or `_`",
            ));
        }
        Ok(key.to_owned())
    }

    fn scope(&self, tiers: &[Tier], blocking: bool) -> Result<AgentScope, Diagnostic> {
        match self.truth("affected")? {
            Some(true) if tiers == [Tier::Model] && !blocking => Ok(AgentScope::Affected),
            Some(true) => {
                let help = "write tier: model and blocking: false, because a verdict that blocks is about all agents";
                Err(refuse("affected", "true", help))
            }
            Some(false) | None => Ok(AgentScope::All),
        }
    }

    fn samples(&self) -> Result<Option<u32>, Diagnostic> {
        let Some(text) = self
            .get("samples")
            .or_else(|| self.0.get("GOLDGATE_SAMPLES"))
        else {
            return Ok(None);
        };
        match text.parse() {
            Ok(samples @ 1..=1000) => Ok(Some(samples)),
            Ok(_) | Err(_) => Err(refuse("samples", text, "write a number from 1 to 1000")),
        }
    }

    fn max_cost_usd(&self) -> Result<Option<f64>, Diagnostic> {
        let Some(text) = self.get("max-cost-usd") else {
            return Ok(None);
        };
        match text.parse::<f64>() {
            Ok(limit) if limit.is_finite() && limit >= 0.0 => Ok(Some(limit)),
            Ok(_) | Err(_) => Err(refuse(
                "max-cost-usd",
                text,
                "write US dollars, such as 2.50",
            )),
        }
    }
}

fn refuse(name: &str, value: &str, help: &str) -> Diagnostic {
    bad_input(format!("{name} is {value:?}"), help)
}

/// A problem of the inputs.
pub fn bad_input(message: impl Into<String>, help: &str) -> Diagnostic {
    Diagnostic::of_file("action input", Code::BAD_INPUT, message, help)
}

/// Parses the path of an input, which must be inside the repository.
pub fn path_of_input(input: &str, path: &str) -> Result<RepoPath, Diagnostic> {
    RepoPath::root().join(path).map_err(|bad| {
        let message = format!("{input} is {path:?}, which {bad}");
        Diagnostic::of_file(
            "action input",
            Code::PATH_OUTSIDE,
            message,
            "write a path inside the repository",
        )
    })
}

/// Parses the input `shard`.
fn shard(stated: Option<&str>) -> Result<Option<Shard>, Diagnostic> {
    let Some(text) = stated else { return Ok(None) };
    text.parse()
        .map(Some)
        .map_err(|_| refuse("shard", text, "write i/n, such as 1/4"))
}

/// Returns the path of a file in the workspace, relative to the current folder.
pub fn inside(workspace: &str, path: &str) -> String {
    Path::new(workspace)
        .join(path)
        .to_string_lossy()
        .into_owned()
}
