//! Any bytes as a report, a shard, a list of failed cases or a config: read, or refused; what is read can be written and read again.
#![no_main]

use goldgate::files::SourceText;
use goldgate::format::{failed_v1, report_v1, shard_v1};
use goldgate::model::RepoPath;
use goldgate::suites::read_config;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(source) = SourceText::new(RepoPath::root().child("file.json"), bytes.to_vec()) else { return };
    if let Ok(report) = report_v1::read_report(&source) {
        let again = SourceText::from_text(source.file.clone(), report_v1::written(&report));
        assert!(report_v1::read_report(&again).is_ok());
        let _ = report_v1::summary(&report);
    }
    if let Ok(part) = shard_v1::read_shard(&source) {
        let mut text = Vec::new();
        assert!(shard_v1::write_shard(&part, &mut text).is_ok());
        let again = SourceText::new(source.file.clone(), text);
        assert!(again.is_ok_and(|again| shard_v1::read_shard(&again).is_ok()));
    }
    if let Ok(failed) = failed_v1::read_failed(&source) {
        let again = SourceText::from_text(source.file.clone(), failed_v1::written(&failed));
        assert_eq!(failed_v1::read_failed(&again).ok(), Some(failed));
    }
    if let Err(problems) = read_config(&source) {
        assert!(problems.sorted().iter().all(|problem| !problem.to_string().is_empty()));
    }
});
