//! A report for tests.

use super::{
    Authority, BaselineUse, CaseChoice, Report, ReportTool, Ruling, RunUsage, Tier, Verdict,
};

impl Report {
    /// A blocking report without any suite, which passes.
    pub fn passing(tiers: Vec<Tier>) -> Self {
        Self {
            tool: ReportTool::goldgate("1"),
            config: None,
            commit: None,
            base: None,
            base_branch: None,
            others: Vec::new(),
            tiers,
            authority: Authority::Blocking,
            samples: 1,
            choice: CaseChoice::All,
            started_at: String::new(),
            finished_at: String::new(),
            suites: Vec::new(),
            verdict: Ruling::Judged(Verdict::Pass),
            not_gateable: Vec::new(),
            called_off: None,
            golden_changes: Vec::new(),
            approval: None,
            notes: Vec::new(),
            usage: RunUsage::default(),
            baseline_use: BaselineUse::Compared,
        }
    }
}
