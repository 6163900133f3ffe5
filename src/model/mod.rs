//! The plain values that all other modules use.
//!
//! Nothing here reads files, parses foreign formats or uses a clock. The types of the report and the baseline state by serde how their
//! own files look. Values of these types are already checked: an id matches its pattern, a zone
//! is in range, a verdict is one of three.

mod answered_by;
mod approval;
mod baseline;
mod call;
mod case_choice;
mod comment;
mod config;
mod days;
mod evidence;
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
mod loudness;
mod mark;
mod metric;
mod no_verdict;
mod number;
pub(crate) mod one_or_all;
mod other_pull_request;
mod output_field;
mod outputs;
mod own_expressions;
mod pair;
#[cfg(test)]
mod passing_report;
mod path;
mod policy;
mod record;
mod recorded_call;
mod recording_place;
mod recording_row;
mod redact_pattern;
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

pub(crate) use answered_by::AnsweredBy;
pub(crate) use approval::{Approval, BranchPush, ChangeClass, GoldenChange, Weight};
pub(crate) use baseline::{
    Acceptance, Baseline, BaselineEntry, CaseValues, Identity, PASSED, SampledCase, six_places,
};
pub use call::{
    AnswerForm, Ask, AskedCall, CallError, Charge, Conversation, Message, ModelTurn, Retry,
    SampleRequest, StopReason, TokenUsage, ToolAnswer, ToolSpec, Toolbox, UserTurns,
};
pub(crate) use call::{
    CannedResult, CannedTool, ConversationSoFar, INPUT, LoopRole, NextRole, PastTurn, QUERY,
    SimulatedUser, UserMessage,
};
pub(crate) use case_choice::CaseChoice;
pub(crate) use comment::{BranchOrigin, PullRequest};
pub use comment::{Comment, RunNumber};
pub use config::{
    Agent, AgentFiles, Config, Protocol, Provider, RecordPolicy, SuiteConfig, Target, TermFile,
    Tier, Transport, Wire,
};
pub(crate) use config::{
    Budget, Price, Reasoning, RecordingTrust, Role, StatedBand, StatedGate, StatedLimit,
};
pub(crate) use days::RunDays;
pub(crate) use evidence::{
    CaseEvidence, Difference, EvidenceLine, EvidenceSource, MetricEvidence, PairShortfall,
    Shortfall, Shortfalls,
};
pub(crate) use gate::GateKind;
pub use gate::{ChangeDirection, Gate, Limit, LimitSide, Strictness};
pub(crate) use gate_ruling::{BaseCommitValue, GateRuling};
pub(crate) use governance::{
    ApprovalPolicy, BaselineRule, ByAuthor, LabelChange, LabelEvent, Permission,
    PullRequestDetails, PullState,
};
pub use grade::{Check, CheckOutcome, Grade, Layer};
pub(crate) use grade::{CheckKey, CheckName, Failure, all_hold};
pub use ids::{AgentName, CaseId, SuiteId};
pub(crate) use ids::{BadId, CaseTag, JudgeName};
pub use input_limit::InputLimit;
pub(crate) use interned::interned;
pub(crate) use interruption::Interruption;
pub(crate) use judge::{
    Agreement, Ballot, Judge, JudgeComparison, JudgeConsensus, JudgeEntry, JudgeIdentity,
    JudgeReport, JudgeStanding, JudgedSample, MarkCounts, PairJudged, Trust, Vote,
};
pub(crate) use loudness::Loudness;
pub(crate) use mark::Mark;
pub use metric::{Aggregate, MetricSpec, SampleFold, Unit};
pub(crate) use metric::{
    Better, COVERAGE, EPSILON, ExplainedBy, MOVED, NEWLY_FAILING, ValueSource, harmonic, indicator,
    reaches, share,
};
pub(crate) use no_verdict::NotGateable;
pub(crate) use number::{at_least_two_places, fixed_places, grouped, hundredths, metric_value};
pub(crate) use other_pull_request::{OtherOutcome, OtherPullRequest};
pub use output_field::{OutputField, RecordPart, StatedFields};
pub(crate) use own_expressions::{OwnCheck, OwnExpressions, OwnMetric};
pub(crate) use pair::{
    CalledTool, CaseTrend, Exclusion, GoldenLine, LostSample, PairCheck, PairResult, PairValue,
    Quarantine, Standing,
};
pub use path::RepoPath;
pub(crate) use path::{BadPath, PathGlob};
pub(crate) use policy::{
    Alpha, AskedCase, BrokenClass, BrokenRule, NeverClass, POLICY_METRICS, Policy, PolicyReport,
    ScoredSample, UnchangedSums,
};
pub(crate) use record::{CALL_LISTS, REDACTED};
pub use record::{
    IMPORTED, Json, Measures, RECORDED_COMMAND, RunEvidence, RunInputs, RunProvenance, RunRecord,
    Steps, ToolCall,
};
pub(crate) use recorded_call::{
    Answerer, CaptureSource, ExchangeWire, RecordedExchange, RecordedRequest, RecordedResponse,
};
pub use recording_place::{
    AttemptNames, BadPattern, MatchedRecording, RecordingPattern, RecordingPlace,
};
pub(crate) use recording_row::{Effect, RecordingRow, Row};
pub use redact_pattern::RedactPattern;
pub(crate) use reliability::{Passing, Reliability};
pub(crate) use report::{
    AgentReport, BaselineUse, Comparison, FailureLine, MetricReport, Noise, ReportTool, SuiteReport,
};
pub use report::{Authority, Report};
pub(crate) use run::{CountedTools, Sample, Tokens, UngradedReason};
pub use run::{LogVerdict, Provenance, Run, RunKey, RunStatus};
pub(crate) use run_source::LiveSource;
pub use run_source::RunSource;
pub(crate) use run_usage::RunUsage;
pub(crate) use sample_uses::SampleUses;
pub(crate) use setting::{KindSettings, SettingChange, SettingFile, SettingWeight};
pub use setting::{SettingRule, Treatment};
pub(crate) use shard::Shard;
pub(crate) use since_base::{AgentRuns, ChangedText, MovedUse, SampleUse, SinceBase};
pub(crate) use tag::Tag;
pub use trace::{ModelCall, ModelCallResult, Period, Traced};
pub(crate) use verdict::{Ruling, SWITCHED_OFF, Verdict};
pub(crate) use words::{Word, read_word, words};
