//! Any bytes as a file of another tool: runs or cases that can be written and read again, or a refusal.
#![no_main]

use goldgate::files::SourceText;
use goldgate::format::foreign_cases::{openai_evals_cases, promptfoo_cases};
use goldgate::format::run_v1;
use goldgate::format::transcript::{hints, parsed, read_runs, run_record, run_status, source_texts};
use goldgate::model::{AgentName, CaseId, RepoPath, RunKey, SuiteId};
use import::Format;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let path = RepoPath::root().child("exported.json");
    let (Ok(suite), Ok(agent), Ok(case)) = (SuiteId::new("suite"), AgentName::new("agent"), CaseId::new("case")) else {
        return;
    };
    let key = RunKey { suite, agent, case };
    for source in source_texts(&path, bytes.to_vec()).unwrap_or_default() {
        let _ = promptfoo_cases(&source);
        let _ = openai_evals_cases(&source);
        let Ok(file) = parsed(&source) else { continue };
        let _ = file.format();
        for format in Format::ALL {
            for case_key in [None, Some("id")] {
                let hints = hints(case_key, Some("agent"));
                let runs = read_runs(&source, &file, format, hints).unwrap_or_default();
                for (sample, run) in (0_u32..).zip(runs).take(20) {
                    let record = run_record(&run, format, key.agent.clone(), key.case.clone(), sample);
                    let text = run_v1::written(&record);
                    let again = SourceText::from_text(RepoPath::root().child("run.json"), text);
                    let read = run_v1::read_run(&again, &key, sample);
                    assert_eq!(read.map(|read| read.status).ok(), Some(run_status(run.ending)), "{}", again.text);
                }
            }
        }
    }
});
