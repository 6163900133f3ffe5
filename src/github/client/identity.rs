//! The account that the token writes as.

use serde::Deserialize;
use serde_json::json;

use super::forms::LoginForm;
use super::{GitHub, parsed};

/// GraphQL query for the token's account. It works for every kind of token; `GET /user` answers 403 for installation tokens.
const VIEWER: &str = "query { viewer { login } }";

impl GitHub {
    /// The login that the token writes as, such as `github-actions[bot]`. `None` if GraphQL does not give it and nothing was
    /// written yet. GraphQL is asked at most once.
    pub fn identity(&self) -> Option<&str> {
        // What GitHub wrote under is the fact; GraphQL only says it earlier.
        let written = self.writer.get().map(String::as_str);
        written.or_else(|| self.viewer.get_or_init(|| self.ask_viewer()).as_deref())
    }

    /// Remembers the login under which GitHub stored the first own comment.
    pub(super) fn learn_identity(&self, login: &str) {
        if !login.is_empty() {
            self.writer.get_or_init(|| login.to_owned());
        }
    }

    fn ask_viewer(&self) -> Option<String> {
        let path = &self.graphql.path;
        let answer = self.ask_repeatable(
            path,
            &json!({ "query": VIEWER }),
            "while asking for the token's account",
        );
        let form: ViewerAnswerForm = parsed(&answer.ok()?, path).ok()?;
        Some(form.data?.viewer?.login).filter(|login| !login.is_empty())
    }
}

#[derive(Deserialize)]
struct ViewerAnswerForm {
    data: Option<ViewerDataForm>,
}

#[derive(Deserialize)]
struct ViewerDataForm {
    viewer: Option<LoginForm>,
}
