//! The plain values that all other modules use.
//!
//! Nothing here reads files, parses foreign formats or uses a clock. The types of the report and the baseline state by serde how their
//! own files look. Values of these types are already checked: an id matches its pattern, a zone
//! is in range, a verdict is one of three.

mod answered_by;
mod approval;
mod baseline;
mod branch_tip;
mod call;
mod case_choice;
mod comment;
mod config;
mod evidence;
mod exchange;
mod file_form;
mod gate;
mod gate_ruling;
mod governance;
mod grade;
mod ids;
mod input_limit;
mod interned;
mod interruption;
mod judge;
mod mark;
mod metric;
mod no_verdict;
mod number;
pub mod one_or_all;
mod other_pull_request;
mod own_expressions;
mod pair;
#[cfg(test)]
mod passing_report;
mod path;
mod record;
mod reliability;
mod report;
mod run;
mod run_source;
mod run_usage;
mod sample_uses;
mod setting;
mod shard;
mod since_base;
mod tag;
mod trace;
mod verdict;
mod words;

pub use answered_by::{AnsweredBy, Freshness, RecordingAge};
pub use approval::{Approval, BranchPush, ChangeClass, GoldenChange, Weight};
pub use baseline::{Acceptance, Baseline, BaselineEntry, CaseValues, FAILING, Identity, PASSED, six_places};
pub use branch_tip::BranchTip;
pub use call::{
    AnswerForm, Ask, AskedCall, CallError, CannedResult, CannedTool, Charge, Conversation, ConversationSoFar, LoopRole,
    Message, ModelTurn, NextRole, PastTurn, QUERY, Retry, SampleRequest, SimulatedUser, StopReason, TokenUsage,
    ToolAnswer, ToolSpec, Toolbox, UserMessage, UserTurns,
};
pub use case_choice::CaseChoice;
pub use comment::{BranchOrigin, Comment, CommentEdit, PullRequest, RunNumber};
pub use config::{
    Agent, AgentFiles, Budget, Config, DEFAULT_RECORDER, Price, Protocol, Provider, RecordPolicy, RecordingTrust, Role,
    StalePolicy, StatedGate, StatedLimit, SuiteConfig, Target, Tier, Transport, Wire,
};
pub use evidence::{CaseEvidence, Difference, EvidenceLine, MetricEvidence, PairShortfall, Shortfall, Shortfalls};
pub use exchange::{Answerer, CaptureSource, ExchangeWire, RecordedExchange, RecordedRequest, RecordedResponse};
pub use gate::{ChangeDirection, Gate, GateKind, Limit, LimitSide, Strictness};
pub use gate_ruling::{BaseCommitValue, ChanceOfFailure, GateRuling, NewPart};
pub use governance::{
    ByAuthor, CommitStatus, LabelChange, LabelEvent, Permission, PullRequestDetails, PullState, StatusState,
};
pub use grade::{Check, CheckKey, CheckName, CheckOutcome, Failure, Grade, Layer, all_hold};
pub use ids::{AgentName, BadId, CaseId, CaseTag, JudgeName, SuiteId};
pub use input_limit::{InputLimit, LimitUnit};
pub use interned::interned;
pub use interruption::Interruption;
pub use judge::{
    Agreement, Ballot, Judge, JudgeComparison, JudgeConsensus, JudgeEntry, JudgeIdentity, JudgeReport, JudgeStanding,
    JudgedSample, MarkCounts, PairJudged, Trust, Vote,
};
pub use mark::Mark;
pub use metric::{
    Aggregate, Better, COVERAGE, EPSILON, ExplainedBy, MOVED, MetricSpec, NEWLY_FAILING, READABLE, SampleFold, Unit,
    ValueSource, harmonic, indicator, reaches, share,
};
pub use no_verdict::{NoVerdict, NotGateable};
pub use number::{at_least_two_places, fixed_places, grouped, hundredths, metric_value};
pub use other_pull_request::{OtherOutcome, OtherPullRequest};
pub use own_expressions::{OwnCheck, OwnExpressions, OwnMetric};
pub use pair::{
    CalledTool, CaseTrend, Exclusion, GoldenLine, LostSample, PairCheck, PairResult, PairValue, Quarantine, Standing,
};
pub use path::{BadPath, PathGlob, RepoPath};
pub use record::{
    CALL_LISTS, Json, Measures, REDACTED, RunEvidence, RunInputs, RunProvenance, RunRecord, Steps, ToolCall,
};
pub use reliability::{Passing, Reliability};
pub use report::{
    AgentReport, Authority, BaselineUse, Comparison, FailureLine, MetricReport, Noise, Report, ReportTool, SuiteReport,
};
pub use run::{CountedTools, Provenance, Run, RunKey, RunStatus, Sample, Tokens, UngradedReason};
pub use run_source::{LiveSource, RunSource};
pub use run_usage::RunUsage;
pub use sample_uses::SampleUses;
pub use setting::{KindSettings, SettingChange, SettingFile, SettingRule, SettingWeight, Treatment};
pub use shard::Shard;
pub use since_base::{ChangedText, MovedUse, SampleUse, SinceBase};
pub use tag::Tag;
pub use trace::{ModelCall, ModelCallResult, Period, Traced};
pub use verdict::{Ruling, SWITCHED_OFF, Verdict};
pub(crate) use words::words;
pub use words::{Word, read_word};
