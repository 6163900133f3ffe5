//! The report of a small repository with edits in its JSON, as `mode: publish` gets it from a job of a pull request: refused in one
//! line, or shown as advisory in every format and in a comment that fits, has its own section and can be updated.
#![no_main]

mod edits;
mod repositories;

use std::collections::BTreeMap;
use std::fs;
use std::sync::OnceLock;

use edits::{Edit, edited};
use goldgate::files::SourceText;
use goldgate::model::{Authority, Comment, RepoPath, Report, RunNumber};
use goldgate::publish::{CommentPlan, CommentRequest, ReportOrigin, admitted, is_settled, is_written, plan};
use goldgate::render::markdown::Links;
use goldgate::render::{Detail, RENDERERS, Screen, Style};
use libfuzzer_sys::fuzz_target;
use repositories::{own_folder, run, small_repositories, write};
use serde_json::{Value, json};

const FILE: &str = "report.json";
const HEAD: &str = "1111111111111111111111111111111111111111";
const BOT: &str = "github-actions[bot]";
/// GitHub's limit of a comment.
const LIMIT: usize = 65_536;

fuzz_target!(|plan: (u8, Vec<Edit>)| {
    static SEEDS: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    let seeds = SEEDS.get_or_init(seeds);
    let (seed, edits) = plan;
    let mut files = BTreeMap::from([(FILE.to_owned(), seeds[usize::from(seed) % seeds.len()].clone())]);
    for edit in edits.iter().take(6).filter(|edit| !matches!(edit, Edit::Remove { .. })) {
        edited(&mut files, edit);
    }
    let bytes = files.remove(FILE).unwrap_or_default();
    let Ok(source) = SourceText::new(RepoPath::root().child(FILE), bytes) else { return };
    match admitted(&source, HEAD) {
        Ok(report) => shown(&report),
        Err(rejected) => assert!(!rejected.to_string().is_empty()),
    }
});

fn shown(report: &Report) {
    assert!(report.authority == Authority::Advisory && report.approval.is_none());
    for format in RENDERERS {
        for style in [Style::Coloured, Style::Plain] {
            let screen = Screen { style, columns: 80, detail: Detail::Everything };
            assert!(!format.to_text(report, screen).is_empty());
        }
    }
    let links = Links { files: Some("https://github.com/acme/agents/blob/1".to_owned()), ..Links::default() };
    let request = CommentRequest {
        report,
        links: &links,
        key: "goldgate",
        head: HEAD,
        current_head: HEAD,
        run: RunNumber { run: 1, attempt: 1 },
        witness: ReportOrigin::Stranger,
        author: Some(BOT),
    };
    let CommentPlan::Create(body) = plan(&request, &[]) else { panic!("there is no comment yet") };
    assert!(body.len() <= LIMIT, "{} bytes", body.len());
    assert!(is_written(&request, &body), "{body}");
    // Nothing in the report can write a section of the comment.
    assert_eq!(body.matches("<!-- goldgate:section ").count(), 1, "{body}");
    let comment = Comment { id: 1, author: BOT.to_owned(), body, url: String::new(), written_at: None };
    assert!(is_settled(&request, std::slice::from_ref(&comment)));
    let CommentPlan::Update { id: 1, body, .. } = plan(&request, &[comment]) else { panic!("the comment is there") };
    assert!(body.len() <= LIMIT && is_written(&request, &body), "{body}");
}

/// The reports of the repositories that can be graded.
fn seeds() -> Vec<Vec<u8>> {
    let folder = own_folder();
    let mut seeds = Vec::new();
    for files in small_repositories() {
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join(".git")).expect("the temporary folder can be written");
        files.iter().for_each(|(file, bytes)| write(&folder.join(file), bytes));
        run(&folder, &["run", "--quiet", "--out", "out"]);
        let Ok(bytes) = fs::read(folder.join("out").join(FILE)) else { continue };
        let Ok(mut report) = serde_json::from_slice::<Value>(&bytes) else { continue };
        report["commit"] = json!(HEAD);
        seeds.push(report.to_string().into_bytes());
    }
    assert!(!seeds.is_empty(), "no repository can be graded");
    seeds
}
