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
        &Self::ANSWER,
        &Self::COMPLAINTS,
        &Self::EXCHANGES,
        &Self::EXCHANGED,
        &Self::ARCHIVE,
        &Self::ARCHIVE_UNPACKED,
        &Self::ARCHIVE_ENTRIES,
        &Self::API_ANSWER,
        &Self::YAML_LEVELS,
        &Self::YAML_ALIASES,
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
    pub const FILE: Self = Self::bytes(
        "file of a repository, or standard input",
        32 * MIB,
        "split it, or remove parts that are not graded",
    );
    /// A baseline.
    pub const BASELINE: Self = Self::bytes(
        "baseline",
        256 * MIB,
        "divide the suites over several configs, each with its own baseline",
    );
    /// A report or the file of a shard.
    pub const REPORT: Self = Self::bytes(
        "report.json and shard.json",
        1024 * MIB,
        "grade fewer cases in one run: use --suite or --agent, or more shards",
    );
    /// An answer of a live agent or model.
    pub const ANSWER: Self = Self::bytes(
        "answer of a live agent or model",
        32 * MIB,
        "return a shorter answer",
    );
    /// What a command writes to stderr.
    pub const COMPLAINTS: Self =
        Self::bytes("stderr of a command, for one answer", 16 * MIB, "log less");
    /// Model calls in one sample of a captured agent.
    pub const EXCHANGES: Self = Self::number(
        "model calls in one sample that is recorded with `capture`",
        1000,
        "end the agent's loop earlier",
    );
    /// The bodies of these calls.
    pub const EXCHANGED: Self = Self::bytes(
        "requests and answers of one sample that is recorded with `capture`",
        16 * MIB,
        "send shorter requests, or divide the case",
    );
    /// A downloaded archive of a repository or a report.
    pub const ARCHIVE: Self = Self::bytes(
        "archive of a commit or of a report",
        256 * MIB,
        "keep large files out of the repository, or in Git LFS",
    );
    /// All files of an archive of a commit, unpacked.
    pub const ARCHIVE_UNPACKED: Self = Self::bytes(
        "unpacked archive of a commit",
        2048 * MIB,
        "keep large files out of the repository, or in Git LFS",
    );
    /// The files and folders of an archive.
    pub const ARCHIVE_ENTRIES: Self = Self::number(
        "files and folders of an archive",
        100_000,
        "divide the repository, or the archive",
    );
    /// Any other answer of GitHub.
    pub const API_ANSWER: Self = Self::bytes(
        "any other answer of GitHub",
        128 * MIB,
        "keep large files out of the repository, or in Git LFS",
    );
    /// Nesting of a YAML file.
    pub const YAML_LEVELS: Self = Self::levels("nesting of a YAML file", 64, "flatten it");
    /// The values of all aliases of a YAML file, as JSON: an alias of a list of aliases repeats much more than it takes.
    pub const YAML_ALIASES: Self = Self::bytes(
        "values that the aliases of a YAML file repeat",
        MIB,
        "write the values out",
    );
    /// Nesting of a JSON value, in a file or in an answer. A value under a key that nothing reads is skipped, however deep it is.
    pub const JSON_LEVELS: Self = Self::levels(
        "nesting of a JSON value that is read",
        recover::MAX_DEPTH as u64,
        "flatten it",
    );
    /// Files below one folder.
    pub const FOLDER_FILES: Self = Self::number(
        "files below one folder",
        200_000,
        "divide the folder over several suites",
    );
    /// Nesting of folders.
    pub const FOLDER_LEVELS: Self = Self::levels("nesting of folders", 24, "move the files up");
    /// Folders of a fixture repository.
    pub const FIXTURE_FOLDERS: Self = Self::number(
        "folders of one fixture repository",
        1000,
        "leave out what the task does not need",
    );
    /// Expectations of one case that are each compared with the whole answer.
    pub const EXPECTATIONS: Self = Self::number(
        "entries of `expected_findings`, `must_not_find`, `shared_findings` or `expectedAtoms` of one case",
        500,
        "divide the case, or expect less",
    );
    /// Turns of a conversation.
    pub const TURNS: Self = Self::number(
        "entries of `turns` of one case",
        100,
        "divide the conversation over several cases",
    );
    /// Findings that are each compared with those of another agent.
    pub const COMPARED_FINDINGS: Self = Self::number(
        "findings of one answer that are compared with those of other agents",
        500,
        "a larger answer counts as unreadable there; divide the document",
    );
    /// Own checks, or own metrics, of one suite.
    pub const OWN_EXPRESSIONS: Self = Self::number(
        "entries of `checks` or `metrics` of one suite or case",
        100,
        "divide the suite, or join checks with &&",
    );
    /// Length of an expression.
    pub const EXPRESSION: Self = Self::number(
        "characters of an expression",
        2000,
        "divide it into several checks",
    );
    /// Operators of an expression.
    pub const OPERATORS: Self = Self::number(
        "operators of an expression: `.`, `[`, `+`, `==` and the like",
        80,
        "divide it into several checks",
    );
    /// Nesting of an expression.
    pub const EXPRESSION_LEVELS: Self = Self::levels(
        "nesting of an expression",
        40,
        "divide it into several checks",
    );
    /// Imported samples of one case.
    pub const SAMPLES: Self = Self::number(
        "imported samples of one case",
        1000,
        "import fewer conversations for a case",
    );
    /// Shards of one run.
    pub const SHARDS: Self = Self::number("shards of one run", 1000, "use fewer shards");
    /// Votes of an LLM judge.
    pub const VOTES: Self = Self::number(
        "votes of an LLM judge",
        15,
        "write an odd number from 1 to 15",
    );
    /// Threads that grade.
    pub const THREADS: Self = Self::number(
        "threads of `RAYON_NUM_THREADS`",
        256,
        "more would have no effect",
    );

    const fn bytes(input: &'static str, most: u64, help: &'static str) -> Self {
        Self {
            input,
            most,
            unit: LimitUnit::Bytes,
            help,
        }
    }

    const fn levels(input: &'static str, most: u64, help: &'static str) -> Self {
        Self {
            input,
            most,
            unit: LimitUnit::Levels,
            help,
        }
    }

    const fn number(input: &'static str, most: u64, help: &'static str) -> Self {
        Self {
            input,
            most,
            unit: LimitUnit::Count,
            help,
        }
    }

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
