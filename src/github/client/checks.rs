//! Check runs: an entry among a commit's checks that can be neutral.

use http::Method;
use serde::Deserialize;
use serde_json::json;

use super::{GitHub, GitHubError, PAGE};
use crate::model::words;
use crate::text::encoded_segment;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckRun<'a> {
    pub name: &'a str,
    /// The commit it belongs to.
    pub head: &'a str,
    pub conclusion: Conclusion,
    pub title: &'a str,
    /// Its text in Markdown.
    pub summary: &'a str,
}

words! {
    pub enum Conclusion {
        /// Needs attention, but blocks nothing.
        Neutral = "neutral",
        /// Needs no attention.
        Success = "success",
    }
}

impl GitHub {
    /// The id of goldgate's newest check run with this name on a commit.
    pub fn check_run(&self, head: &str, name: &str) -> Result<Option<u64>, GitHubError> {
        let path = self.path(&format!(
            "/commits/{head}/check-runs?check_name={}&per_page={PAGE}",
            encoded_segment(name)
        ));
        let form: CheckListForm = self.get(&path, "while looking for the check run")?;
        let own_runs = form
            .check_runs
            .iter()
            .filter(|run| run.name == name && run.external_id.as_deref() == Some(OURS));
        Ok(own_runs.map(|run| run.id).max())
    }

    /// Creates a check run, or updates the one with this id.
    pub fn write_check_run(
        &self,
        number: Option<u64>,
        run: &CheckRun<'_>,
    ) -> Result<(), GitHubError> {
        let CheckRun {
            name,
            head,
            conclusion,
            title,
            summary,
        } = run;
        let output = json!({ "title": title, "summary": summary });
        let (method, path, mut body) = match number {
            Some(number) => (Method::PATCH, format!("/check-runs/{number}"), json!({})),
            None => (
                Method::POST,
                "/check-runs".to_owned(),
                json!({ "head_sha": head, "external_id": OURS }),
            ),
        };
        for (key, value) in [
            ("name", json!(name)),
            ("status", json!("completed")),
            ("output", output),
        ] {
            body[key] = value;
        }
        body["conclusion"] = json!(conclusion.as_str());
        self.ask(
            &method,
            &self.path(&path),
            Some(&body),
            "while writing the check run",
        )
        .map(|_| ())
    }
}

/// The external id of goldgate's check runs; any app may use the same name.
const OURS: &str = "goldgate";

#[derive(Deserialize)]
struct CheckListForm {
    check_runs: Vec<CheckRunForm>,
}

#[derive(Deserialize)]
struct CheckRunForm {
    id: u64,
    name: String,
    external_id: Option<String>,
}
