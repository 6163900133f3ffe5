//! Any bytes as a file of another tool: runs or cases that can be written and read again, or a refusal.
#![no_main]

use goldgate::files::SourceText;
use goldgate::format::foreign_cases::{openai_evals_cases, promptfoo_cases};
use goldgate::format::run_v1;
use goldgate::format::transcript::{RunNames, TranscriptFormat, format_of, read_transcripts, source_texts};
use goldgate::model::{AgentName, CaseId, RepoPath, RunKey, SuiteId};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let file = RepoPath::root().child("exported.json");
    let (Ok(suite), Ok(agent), Ok(case)) = (SuiteId::new("suite"), AgentName::new("agent"), CaseId::new("case")) else {
        return;
    };
    let key = RunKey { suite, agent, case };
    for source in source_texts(&file, bytes.to_vec()).unwrap_or_default() {
        let _ = format_of(&source);
        let _ = promptfoo_cases(&source);
        let _ = openai_evals_cases(&source);
        for form in TranscriptFormat::ALL {
            for case_key in [None, Some("id")] {
                let runs = read_transcripts(form, &source, RunNames { case_key, agent: Some("agent") }).unwrap_or_default();
                for (sample, run) in (0_u32..).zip(runs).take(20) {
                    let text = run_v1::written(&run.record(form, key.agent.clone(), key.case.clone(), sample));
                    let again = SourceText::from_text(RepoPath::root().child("run.json"), text);
                    let read = run_v1::read_run(&again, &key, sample);
                    assert_eq!(read.map(|read| read.status).ok(), Some(run.status), "{}", again.text);
                }
            }
        }
    }
});
