//! The nouns of goldgate: plain values that every other module speaks in.
//!
//! Nothing here reads a file, parses a format or knows a clock. A value of these types is already checked:
//! an id fits its pattern, a zone lies in its range, a verdict is one of three.

mod approval;
mod baseline;
mod call;
mod comment;
mod config;
mod evidence;
mod gate;
mod governance;
mod grade;
mod ids;
mod interruption;
mod judge;
mod mark;
mod metric;
mod number;
mod pair;
mod path;
mod record;
mod reliability;
mod report;
mod run;
mod scoring;
mod shard;
mod trace;
mod verdict;

pub use approval::{Approval, ChangeClass, GoldenChange, Weight};
pub use baseline::{Acceptance, Baseline, BaselineEntry, CaseValues, Identity, PASSED, six_places};
pub use call::{
    AnswerForm, Ask, AskedCall, CannedResult, CannedTool, Conversation, Fault, Follow, Message, Part, Request, Retry,
    Spent, Stop, ToolAnswer, ToolSpec, Toolbox, Turn,
};
pub use comment::{Comment, Origin, PullRequest, RunNumber};
pub use config::{
    Agent, AgentFiles, Budget, Config, Flag, LiveSource, Price, Protocol, Provider, Role, Source, Stale, StatedGate,
    StatedLimit, Suite, Target, Tier, Transport, Wire,
};
pub use evidence::{CaseEvidence, Difference, EvidenceLine, MetricEvidence, PairShortfall, Shortfall, Shortfalls};
pub use gate::{Drift, Edge, Gate, Limit, Side};
pub use governance::{ByAuthor, CommitStatus, LabelChange, LabelEvent, Permission, Pull, PullState, StatusState};
pub use grade::{Check, CheckKey, CheckName, Failure, Grade, Layer, Outcome, Tag, all_hold};
pub use ids::{AgentName, BadId, CaseId, JudgeName, SuiteId};
pub use interruption::Interruption;
pub use judge::{
    Agreement, Ballot, Judge, JudgeComparison, JudgeEntry, JudgeIdentity, JudgeReport, JudgeStanding, JudgedSample,
    Opinion, PairJudged, Trust, Vote,
};
pub use mark::Mark;
pub use metric::{
    Aggregate, Better, COVERAGE, EPSILON, ExplainedBy, MOVED, MetricSpec, NEWLY_FAILING, READABLE, SampleFold, Unit,
    ValueSource, harmonic, indicator, reaches, share,
};
pub use number::{fixed_places, metric_value};
pub use pair::{
    AnsweredBy, Exclusion, Freshness, Lost, PairCheck, PairResult, PairValue, Quarantine, RecordingAge, Standing,
};
pub use path::{BadPath, PathGlob, RepoPath};
pub use record::{Evidence, Inputs, Json, Measures, REDACTED, Record, Recorded, Steps, ToolCall};
pub use reliability::{Passing, Reliability};
pub use report::{
    AgentReport, Authority, CaseReport, CaseTrend, Comparison, FailureLine, GateRuling, MetricReport, Noise,
    NotGateable, Report, SWITCHED_OFF, SuiteReport, Usage,
};
pub use run::{Provenance, Run, RunKey, Sample, Status, Tokens, Why};
pub use scoring::{Penalties, PenaltyMode, Scoring};
pub use shard::Shard;
pub use trace::{Answered, Chat, Period, Traced};
pub use verdict::{Ruling, Verdict};
