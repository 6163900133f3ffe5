//! The largest inputs that goldgate accepts.

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

/// What a limit counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitUnit {
    /// Bytes.
    Bytes,
    /// Things.
    Count,
}

const MIB: u64 = 1024 * 1024;

impl InputLimit {
    /// A file that people or agents wrote.
    pub const FILE: Self = Self {
        input: "file of a repository",
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

    /// Threads that grade.
    pub const THREADS: Self = Self {
        input: "threads of `RAYON_NUM_THREADS`",
        most: 256,
        unit: LimitUnit::Count,
        help: "more would have no effect",
    };

    /// Whether this many are too many.
    pub fn is_exceeded_by(&self, count: usize) -> bool {
        u64::try_from(count).map_or(true, |count| count > self.most)
    }
}

impl fmt::Display for InputLimit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.unit {
            LimitUnit::Bytes => write!(out, "{} MiB", self.most / MIB),
            LimitUnit::Count => out.write_str(&grouped(&self.most.to_string())),
        }
    }
}
