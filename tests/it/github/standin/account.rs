//! Who the token belongs to.

use super::{BOT, Standin};

/// The account of the token.
pub struct Account {
    /// The login under which GitHub stores what it writes.
    pub login: String,
    /// Whether GraphQL answers `viewer`.
    pub graphql: GraphQlAccess,
}

/// Whether a job can use GraphQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GraphQlAccess {
    Answers,
    /// A proxy in front of the server lets nothing through.
    Blocked,
    /// The answer is an error with the status 200, as GraphQL's are (docs, "Rate limits and query limits for the GraphQL API").
    Error,
}

impl Default for Account {
    fn default() -> Self {
        Self {
            login: BOT.to_owned(),
            graphql: GraphQlAccess::Answers,
        }
    }
}

impl Standin {
    /// The token is one of an app: it writes as `SLUG[bot]` (docs, "Authenticating as a GitHub App installation").
    pub fn app(&self, login: &str) {
        self.change(|state| login.clone_into(&mut state.account.login));
    }

    pub fn graphql(&self, access: GraphQlAccess) {
        self.change(|state| state.account.graphql = access);
    }
}
