//! Any bytes as a run record, a baseline or an event: read, or refused with a place.
#![no_main]

use goldgate::files::SourceText;
use goldgate::format::{baseline_v1, event, run_v1};
use goldgate::model::{AgentName, CaseId, RepoPath, RunKey, SuiteId};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let file = RepoPath::root().child("record.json");
    let Ok(source) = SourceText::new(file, bytes.to_vec()) else { return };
    let (Ok(suite), Ok(agent), Ok(case)) = (SuiteId::new("suite"), AgentName::new("agent"), CaseId::new("case")) else {
        return;
    };
    if let Err(problem) = run_v1::read_run(&source, &RunKey { suite, agent, case }, 0) {
        assert!(!problem.to_string().is_empty());
    }
    if let Ok(baseline) = baseline_v1::read_baseline(&source) {
        let text = baseline_v1::written(&baseline);
        let again = SourceText::from_text(source.file.clone(), text);
        assert!(baseline_v1::read_baseline(&again).is_ok());
    }
    let _ = event::read_event(&source);
});
