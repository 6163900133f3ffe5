//! An account in GitHub's answers.

use serde::Deserialize;

/// The end of the logins of apps.
const BOT: &str = "[bot]";

#[derive(Deserialize)]
pub(super) struct AccountForm {
    /// Empty where GitHub does not know the account: the author of a commit may be an empty object (XAMPPRocky/octocrab#677).
    #[serde(default)]
    pub(super) login: String,
    #[serde(rename = "type")]
    pub(super) kind: Option<String>,
}

impl AccountForm {
    /// The login, for every bot with the suffix that most of them have: Copilot is a bot without it.
    pub(super) fn login(self) -> String {
        match self.kind.as_deref() {
            Some("Bot") if !self.login.ends_with(BOT) => format!("{}{BOT}", self.login),
            Some(_) | None => self.login,
        }
    }
}
