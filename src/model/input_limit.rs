//! The largest inputs that goldgate accepts. docs/limits.md prints this table.

use std::fmt;

use super::number::grouped;

/// A limit of an input.
#[derive(Debug, PartialEq, Eq)]
pub struct InputLimit {
    /// What is limited.
    pub input: &'static str,
    /// The largest number that is accepted.
    pub most: u64,
    /// What is counted.
    pub unit: LimitUnit,
    /// How to stay below it.
    pub help: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitUnit {
    Bytes,
    /// Levels of lists, objects or folders.
    Levels,
    Count,
}

const MIB: u64 = 1024 * 1024;

impl InputLimit {
    /// All limits.
    pub const ALL: &[&Self] = &[
        &Self::FILE,
        &Self::BASELINE,
        &Self::REPORT,
        &Self::PUBLISHED,
        &Self::ANSWER,
        &Self::COMPLAINTS,
        &Self::EXCHANGES,
        &Self::EXCHANGED,
        &Self::ARTIFACT,
        &Self::ARCHIVE,
        &Self::ARCHIVE_UNPACKED,
        &Self::ARCHIVE_ENTRIES,
        &Self::API_ANSWER,
        &Self::YAML_LEVELS,
        &Self::JSON_LEVELS,
        &Self::FOLDER_FILES,
        &Self::FOLDER_LEVELS,
        &Self::FIXTURE_FOLDERS,
        &Self::EXPECTATIONS,
        &Self::TURNS,
        &Self::COMPARED_FINDINGS,
        &Self::OWN_EXPRESSIONS,
        &Self::EXPRESSION,
        &Self::OPERATORS,
        &Self::EXPRESSION_LEVELS,
        &Self::SAMPLES,
        &Self::SHARDS,
        &Self::VOTES,
        &Self::THREADS,
    ];

    /// A file that people or agents wrote.
    pub const FILE: Self = Self {
        input: "file of a repository, or standard input",
        most: 32 * MIB,
        unit: LimitUnit::Bytes,
        help: "split it, or remove parts that are not graded",
    };
    /// A baseline.
    pub const BASELINE: Self = Self {
        input: "baseline",
        most: 256 * MIB,
        unit: LimitUnit::Bytes,
        help: "divide the suites over several configs, each with its own baseline",
    };
    /// A report or the file of a shard.
    pub const REPORT: Self = Self {
        input: "report.json and shard.json",
        most: 1024 * MIB,
        unit: LimitUnit::Bytes,
        help: "grade fewer cases in one run: use --suite or --agent, or more shards",
    };
    /// A report of a job without rights, which is not trusted.
    pub const PUBLISHED: Self = Self {
        input: "report.json that `mode: publish` shows",
        most: 32 * MIB,
        unit: LimitUnit::Bytes,
        help: "use `mode: trusted`, which grades the files itself",
    };
    /// An answer of a live agent or model.
    pub const ANSWER: Self = Self {
        input: "answer of a live agent or model",
        most: 32 * MIB,
        unit: LimitUnit::Bytes,
        help: "return a shorter answer",
    };
    /// What a command writes to stderr.
    pub const COMPLAINTS: Self =
        Self { input: "stderr of a command, for one answer", most: 16 * MIB, unit: LimitUnit::Bytes, help: "log less" };
    /// Model calls in one sample of a captured agent.
    pub const EXCHANGES: Self = Self {
        input: "model calls in one sample that is recorded with `capture`",
        most: 1000,
        unit: LimitUnit::Count,
        help: "end the agent's loop earlier",
    };
    /// The bodies of these calls.
    pub const EXCHANGED: Self = Self {
        input: "requests and answers of one sample that is recorded with `capture`",
        most: 16 * MIB,
        unit: LimitUnit::Bytes,
        help: "send shorter requests, or divide the case",
    };
    /// The artifact with a report of an untrusted run, before it is unpacked.
    pub const ARTIFACT: Self = Self {
        input: "artifact that `mode: publish` downloads",
        most: 64 * MIB,
        unit: LimitUnit::Bytes,
        help: "upload report.json and no other file",
    };
    /// A downloaded archive of a repository or a report.
    pub const ARCHIVE: Self = Self {
        input: "archive of a commit or of a report",
        most: 256 * MIB,
        unit: LimitUnit::Bytes,
        help: "keep large files out of the repository, or in Git LFS",
    };
    /// All files of an archive of a commit, unpacked.
    pub const ARCHIVE_UNPACKED: Self = Self {
        input: "unpacked archive of a commit",
        most: 2048 * MIB,
        unit: LimitUnit::Bytes,
        help: "keep large files out of the repository, or in Git LFS",
    };
    /// The files and folders of an archive.
    pub const ARCHIVE_ENTRIES: Self = Self {
        input: "files and folders of an archive",
        most: 100_000,
        unit: LimitUnit::Count,
        help: "divide the repository, or the archive",
    };
    /// Any other answer of GitHub.
    pub const API_ANSWER: Self = Self {
        input: "any other answer of GitHub",
        most: 128 * MIB,
        unit: LimitUnit::Bytes,
        help: "keep large files out of the repository, or in Git LFS",
    };
    /// Nesting of a YAML file.
    pub const YAML_LEVELS: Self =
        Self { input: "nesting of a YAML file", most: 64, unit: LimitUnit::Levels, help: "flatten it" };
    /// Nesting of a JSON value, in a file or in an answer. A value under a key that nothing reads is skipped, however deep it is.
    pub const JSON_LEVELS: Self =
        Self { input: "nesting of a JSON value that is read", most: 127, unit: LimitUnit::Levels, help: "flatten it" };
    /// Files below one folder.
    pub const FOLDER_FILES: Self = Self {
        input: "files below one folder",
        most: 200_000,
        unit: LimitUnit::Count,
        help: "divide the folder over several suites",
    };
    /// Nesting of folders.
    pub const FOLDER_LEVELS: Self =
        Self { input: "nesting of folders", most: 24, unit: LimitUnit::Levels, help: "move the files up" };
    /// Folders of a fixture repository.
    pub const FIXTURE_FOLDERS: Self = Self {
        input: "folders of one fixture repository",
        most: 1000,
        unit: LimitUnit::Count,
        help: "leave out what the task does not need",
    };
    /// Expectations of one case that are each compared with the whole answer.
    pub const EXPECTATIONS: Self = Self {
        input: "entries of `expected_findings`, `must_not_find`, `shared_findings` or `expectedAtoms` of one case",
        most: 500,
        unit: LimitUnit::Count,
        help: "divide the case, or expect less",
    };
    /// Turns of a conversation.
    pub const TURNS: Self = Self {
        input: "entries of `turns` of one case",
        most: 100,
        unit: LimitUnit::Count,
        help: "divide the conversation over several cases",
    };
    /// Findings that are each compared with those of another agent.
    pub const COMPARED_FINDINGS: Self = Self {
        input: "findings of one answer that are compared with those of other agents",
        most: 500,
        unit: LimitUnit::Count,
        help: "a larger answer counts as unreadable there; divide the document",
    };
    /// Own checks, or own metrics, of one suite.
    pub const OWN_EXPRESSIONS: Self = Self {
        input: "entries of `checks` or `metrics` of one suite or case",
        most: 100,
        unit: LimitUnit::Count,
        help: "divide the suite, or join checks with &&",
    };
    /// Length of an expression.
    pub const EXPRESSION: Self = Self {
        input: "characters of an expression",
        most: 2000,
        unit: LimitUnit::Count,
        help: "divide it into several checks",
    };
    /// Operators of an expression.
    pub const OPERATORS: Self = Self {
        input: "operators of an expression: `.`, `[`, `+`, `==` and the like",
        most: 80,
        unit: LimitUnit::Count,
        help: "divide it into several checks",
    };
    /// Nesting of an expression.
    pub const EXPRESSION_LEVELS: Self = Self {
        input: "nesting of an expression",
        most: 40,
        unit: LimitUnit::Levels,
        help: "divide it into several checks",
    };
    /// Imported samples of one case.
    pub const SAMPLES: Self = Self {
        input: "imported samples of one case",
        most: 1000,
        unit: LimitUnit::Count,
        help: "import fewer conversations for a case",
    };
    /// Shards of one run.
    pub const SHARDS: Self =
        Self { input: "shards of one run", most: 1000, unit: LimitUnit::Count, help: "use fewer shards" };
    /// Votes of an LLM judge.
    pub const VOTES: Self = Self {
        input: "votes of an LLM judge",
        most: 15,
        unit: LimitUnit::Count,
        help: "write an odd number from 1 to 15",
    };
    /// Threads that grade.
    pub const THREADS: Self = Self {
        input: "threads of `RAYON_NUM_THREADS`",
        most: 256,
        unit: LimitUnit::Count,
        help: "more would have no effect",
    };

    /// The largest number that is accepted, as a length.
    pub const fn count(&self) -> usize {
        self.most as usize
    }

    /// Whether this many are too many.
    pub fn is_exceeded_by(&self, count: usize) -> bool {
        u64::try_from(count).map_or(true, |count| count > self.most)
    }
}

impl fmt::Display for InputLimit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.unit {
            LimitUnit::Bytes => write!(out, "{} MiB", self.most / MIB),
            LimitUnit::Levels => write!(out, "{} levels", self.most),
            LimitUnit::Count => out.write_str(&grouped(&self.most.to_string())),
        }
    }
}
