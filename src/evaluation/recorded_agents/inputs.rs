//! What the agents of a suite are asked, and whether that differs between the two commits: [`SuiteInputs`].

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use crate::diag::Diagnostics;
use crate::evaluation::plan::Plan;
use crate::files::{BaseFiles, Files, ReadFor, ReadLog, RecordedFiles};
use crate::format::recorded_v1::RecordedDigests;
use crate::golden_changes::{BaseName, Sides, same_suite};
use crate::model::{Agent, Ask, Config, RepoPath, RunKey, SuiteConfig, SuiteId};
use crate::suites::{Suite, input_digest, kind};

/// The base commit that recordings are compared with.
pub struct RecordingsBase<'a> {
    /// The files of both commits.
    pub sides: Sides<'a>,
    /// The base commit's config.
    pub config: &'a Config,
    /// The branch without the base branch, where a merge of both is graded.
    pub branch: &'a dyn BranchDigest,
    /// What shows that the recording workflow wrote a recording.
    pub evidence: &'a dyn RecorderEvidence,
    /// What messages call the base commit.
    pub name: BaseName,
}

/// What shows that the recording workflow wrote a recording, where only its recordings count.
pub trait RecorderEvidence: Sync {
    /// Whether it wrote these digests at this path.
    ///
    /// # Errors
    /// Why that is not shown, as the end of a sentence with what to do.
    fn shows(&self, file: &RepoPath, digests: &RecordedDigests) -> Result<(), String>;
}

/// No evidence, because this is not the gate on GitHub.
pub struct NoEvidence;

impl RecorderEvidence for NoEvidence {
    fn shows(&self, _file: &RepoPath, _digests: &RecordedDigests) -> Result<(), String> {
        Err("it cannot be shown that it did; the gate on GitHub can".to_owned())
    }
}

/// A branch before it was merged with its base branch.
pub trait BranchDigest: Sync {
    /// The digest of an agent's files there; `None` if no merge is graded, or the files cannot be read.
    fn sha256(&self, agent: &Agent) -> Option<String>;
}

/// No merge is graded.
pub struct NoMerge;

impl BranchDigest for NoMerge {
    fn sha256(&self, _agent: &Agent) -> Option<String> {
        None
    }
}

/// The inputs of the runs of a suite on the head, and on the base commit if there is one.
pub struct SuiteInputs<'a> {
    head: Option<Requests>,
    files: &'a dyn Files,
    base: Option<BaseInputs<'a>>,
}

struct BaseInputs<'a> {
    files: &'a dyn BaseFiles,
    config: Option<&'a SuiteConfig>,
    /// Whether loading the golden set of both commits gives the same cases.
    opens_alike: OpensAlike,
    /// The base commit's requests, read when they are needed.
    requests: OnceLock<Option<Requests>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum OpensAlike {
    Yes,
    No,
}

/// The digest of what a case asks on both commits.
pub enum InputMotion {
    /// The case asks nothing that has a digest, or it cannot be read here.
    Unknown,
    /// The digest of both commits, or of the head alone.
    Still(String),
    /// The base commit asked something else; `None` if it had no such case.
    Moved { head: String, base: Option<String> },
}

impl InputMotion {
    /// The digest of the head.
    pub fn now(&self) -> Option<&str> {
        match self {
            Self::Unknown => None,
            Self::Still(digest) | Self::Moved { head: digest, .. } => Some(digest),
        }
    }

    /// The digest of the base commit.
    pub fn before(&self) -> Option<&str> {
        match self {
            Self::Unknown => None,
            Self::Still(digest) => Some(digest),
            Self::Moved { base, .. } => base.as_deref(),
        }
    }

    /// Whether the two commits ask something else.
    pub fn is_moved(&self) -> bool {
        matches!(self, Self::Moved { .. })
    }
}

impl<'a> SuiteInputs<'a> {
    /// Opens the inputs of a suite of the plan.
    ///
    /// # Errors
    /// Its golden files cannot be read.
    pub(super) fn open(
        plan: &Plan,
        suite: &SuiteId,
        files: &'a dyn Files,
        base: Option<&'a RecordingsBase<'a>>,
    ) -> Result<Self, Diagnostics> {
        let head = Requests::of_plan(plan, suite, files)?;
        let loaded = plan.read_suites().find(|loaded| loaded.config.id == *suite);
        let base = base.map(|base| {
            let head_suite = plan.config.suite(suite);
            let base_suite = head_suite.and_then(|head_suite| same_suite(base.config, head_suite));
            let is_same_config =
                head_suite
                    .zip(base_suite)
                    .is_some_and(|(head_suite, base_suite)| {
                        head_suite.for_reading() == base_suite.for_reading()
                    });
            let reads_alike = loaded.is_some_and(|loaded| loaded.reads.opens_alike());
            BaseInputs {
                files: base.sides.base,
                config: base_suite,
                opens_alike: if is_same_config && reads_alike {
                    OpensAlike::Yes
                } else {
                    OpensAlike::No
                },
                requests: OnceLock::new(),
            }
        });
        Ok(Self { head, files, base })
    }

    /// The digests of what a run is asked.
    pub fn of(&self, run: &RunKey) -> InputMotion {
        let Some(head) = &self.head else {
            return InputMotion::Unknown;
        };
        let Some(base) = &self.base else {
            let digest = head.digest(run, self.files);
            return digest.map_or(InputMotion::Unknown, InputMotion::Still);
        };
        let log = ReadLog::comparing(Some(base.files));
        let read_for = ReadFor::Case(run.case.clone());
        let files = RecordedFiles::new(self.files, base.files, &log, read_for);
        let Some(head) = head.digest(run, &files) else {
            return InputMotion::Unknown;
        };
        if base.opens_alike == OpensAlike::Yes && log.different().is_empty() {
            return InputMotion::Still(head);
        }
        let base = base.digest(run);
        if base.as_ref() == Some(&head) {
            InputMotion::Still(head)
        } else {
            InputMotion::Moved { head, base }
        }
    }
}

impl BaseInputs<'_> {
    fn digest(&self, run: &RunKey) -> Option<String> {
        let requests = self
            .requests
            .get_or_init(|| Requests::open(self.config?, self.files).ok()?);
        requests.as_ref()?.digest(run, self.files)
    }
}

/// The requests of a suite, by run.
pub struct Requests {
    suite: Arc<dyn Suite>,
    /// Which of its pairs has a run.
    pair_indices: HashMap<RunKey, usize>,
}

impl Requests {
    /// Returns the requests of a suite of a plan, whether or not it is selected; `None` if it has no such suite.
    ///
    /// # Errors
    /// Its golden files cannot be read.
    pub fn of_plan(
        plan: &Plan,
        id: &SuiteId,
        files: &dyn Files,
    ) -> Result<Option<Self>, Diagnostics> {
        let loaded = plan.read_suites().find(|loaded| loaded.config.id == *id);
        match (loaded, plan.config.suite(id)) {
            (Some(loaded), _) => Ok(Some(Self::of(loaded.suite.clone()))),
            (None, Some(config)) => Self::open(config, files),
            (None, None) => Ok(None),
        }
    }

    /// Reads the requests of a suite; `None` if it has a kind that this version does not know.
    ///
    /// # Errors
    /// Its golden files cannot be read.
    pub fn open(config: &SuiteConfig, files: &dyn Files) -> Result<Option<Self>, Diagnostics> {
        let Some(kind) = kind(&config.kind) else {
            return Ok(None);
        };
        Ok(Some(Self::of(Arc::from((kind.open)(config, files)?))))
    }

    fn of(suite: Arc<dyn Suite>) -> Self {
        let mut pair_indices = HashMap::new();
        for (index, pair) in suite.pairs_to_run().enumerate() {
            for key in &pair.runs {
                pair_indices.entry(key.clone()).or_insert(index);
            }
        }
        Self {
            suite,
            pair_indices,
        }
    }

    /// Returns the request of a run; `None` if the suite has no such run, or the request cannot be built.
    pub fn ask(&self, key: &RunKey, files: &dyn Files) -> Option<Ask> {
        let pair = self
            .suite
            .pairs_to_run()
            .nth(*self.pair_indices.get(key)?)?;
        self.suite.ask(pair, key, files).ok()?
    }

    /// The digest of what a run is asked; `None` if it asks nothing, or not all of it can be read.
    fn digest(&self, key: &RunKey, files: &dyn Files) -> Option<String> {
        input_digest(&self.ask(key, files)?, files).ok()
    }
}
