//! A renamed repository: its old name redirects to its number (docs, "Best practices for using the REST API", "Follow redirects"), with
//! 301 to reads and with 307 to changes.

use serde_json::json;

use super::{Answer, Request, Standin, State, missing, status};

const OLD: &str = "/repos/acme/agents";
const NEW: &str = "/repositories/186853002";

impl Standin {
    /// The repository is renamed: requests by its old name are redirected to its number on this host.
    pub fn rename(&self, host: &str) {
        self.change(|state| state.renamed = Some(format!("http://{host}:{}", state.port)));
    }
}

/// Answers a request, or redirects it.
pub fn answer(mut request: Request, state: &mut State) -> Answer {
    let Some(host) = &state.renamed else {
        return super::answer(&request, state);
    };
    if let Some(rest) = request.path.strip_prefix(OLD) {
        let code = if request.method == "GET" { 301 } else { 307 };
        let query = if request.query.is_empty() {
            String::new()
        } else {
            format!("?{}", request.query)
        };
        let headers = format!("location: {host}{NEW}{rest}{query}\r\n");
        return Answer {
            headers,
            ..status(code, json!({ "message": "Moved Permanently" }))
        };
    }
    match request.path.strip_prefix(NEW) {
        // A private repository does not exist for a request without the token.
        Some(_) if !request.has_token => missing(),
        Some(rest) => {
            request.path = format!("{OLD}{rest}");
            super::answer(&request, state)
        }
        None => super::answer(&request, state),
    }
}
