//! Any bytes as a tar or zip archive, or as a workflow: what is within the limits, or a refusal in one line.
#![no_main]

use goldgate::files::SourceText;
use goldgate::format::archive::{ArchiveLimits, tarball, zip};
use goldgate::format::workflow::read_workflow;
use goldgate::model::RepoPath;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let limits = ArchiveLimits { entries: 50, file: 1 << 16, kept: 1 << 18, inflated: 1 << 20 };
    for unpacked in [tarball(bytes, limits, &|_| true), zip(bytes, limits, &|_| true)].into_iter().flatten() {
        assert!(unpacked.files.values().all(|file| file.len() <= 1 << 16));
        assert!(unpacked.files.values().map(Vec::len).sum::<usize>() <= 1 << 18);
        assert!(unpacked.files.len() + unpacked.links.len() <= 50);
    }
    if let Ok(source) = SourceText::new(RepoPath::root().child("gate.yml"), bytes.to_vec())
        && let Err(problem) = read_workflow(&source)
    {
        assert!(!problem.to_string().contains('\n'));
    }
});
