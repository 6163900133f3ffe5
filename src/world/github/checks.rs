//! Check runs: a line among a commit's checks that is neither red nor green.

use http::Method;
use serde::Deserialize;
use serde_json::json;

use super::{GitHub, GitHubError, PAGE, parsed};

/// A line among the checks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckRun<'a> {
    /// Its name.
    pub name: &'a str,
    /// The commit.
    pub head: &'a str,
    /// What it ends with.
    pub conclusion: Conclusion,
    /// Its first line.
    pub title: &'a str,
    /// Its text, as Markdown.
    pub summary: &'a str,
}

/// What a check run ends with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conclusion {
    /// Something is to be seen, and nothing is held up.
    Neutral,
    /// Nothing is to be seen any more.
    Success,
}

impl Conclusion {
    fn as_str(self) -> &'static str {
        match self {
            Self::Neutral => "neutral",
            Self::Success => "success",
        }
    }
}

impl GitHub {
    /// The newest check run of this name that this token's app has on a commit.
    ///
    /// # Errors
    /// Why GitHub did not answer.
    pub fn check_run(&self, head: &str, name: &str) -> Result<Option<u64>, GitHubError> {
        let path =
            self.path(&format!("/commits/{head}/check-runs?check_name={}&per_page={PAGE}", name.replace(' ', "%20")));
        let answer = self.ask(&Method::GET, &path, None, "while looking for the check run")?;
        let form: CheckListForm = parsed(&answer, &path)?;
        let own = form.check_runs.iter().filter(|run| run.name == name && run.external_id.as_deref() == Some(OURS));
        Ok(own.map(|run| run.id).max())
    }

    /// Writes a check run: a new one, or over the one with this number.
    ///
    /// # Errors
    /// Why GitHub did not do it.
    pub fn write_check_run(&self, number: Option<u64>, run: &CheckRun<'_>) -> Result<(), GitHubError> {
        let CheckRun { name, head, conclusion, title, summary } = run;
        let output = json!({ "title": title, "summary": summary });
        let (method, path, mut body) = match number {
            Some(number) => (Method::PATCH, format!("/check-runs/{number}"), json!({})),
            None => (Method::POST, "/check-runs".to_owned(), json!({ "head_sha": head, "external_id": OURS })),
        };
        for (key, value) in [("name", json!(name)), ("status", json!("completed")), ("output", output)] {
            body[key] = value;
        }
        body["conclusion"] = json!(conclusion.as_str());
        self.ask(&method, &self.path(&path), Some(&body), "while writing the check run").map(|_| ())
    }
}

/// What marks our own: the name of a check run is anybody's.
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
