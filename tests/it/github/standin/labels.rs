//! The labels of the repository. A fresh repository has none of goldgate's.

use serde_json::{Value, json};

use super::{Answer, Request, Standin, State, decoded, forbidden, missing, ok, status};

/// The labels by name, and what requests created.
#[derive(Default)]
pub struct Labels {
    names: Vec<String>,
    created: Vec<Value>,
}

impl Labels {
    /// GitHub compares label names without letter case (docs, "Managing labels": names are unique so).
    fn has(&self, name: &str) -> bool {
        self.names
            .iter()
            .any(|known| known.eq_ignore_ascii_case(name))
    }

    pub fn add(&mut self, name: &str) {
        if !self.has(name) {
            self.names.push(name.to_owned());
        }
    }
}

impl Standin {
    /// The bodies of the requests that created labels.
    pub fn created_labels(&self) -> Vec<Value> {
        self.change(|state| state.labels.created.clone())
    }
}

/// `labels` and `labels/NAME`.
pub fn answer(request: &Request, segments: &[&str], state: &mut State) -> Option<Answer> {
    Some(match (request.method.as_str(), segments) {
        ("GET", ["labels", name]) if state.labels.has(&decoded(name)) => {
            ok(json!({ "name": decoded(name) }))
        }
        ("GET", ["labels", _]) => missing(),
        ("POST", ["labels"]) if !state.allows("pull-requests: write") => {
            forbidden("issues=write; pull_requests=write")
        }
        // REST, "Create a label": a color of six hexadecimal digits without #, a description of at most 100 characters.
        ("POST", ["labels"]) => {
            let text = |name: &str| request.body[name].as_str().unwrap_or_default();
            let color = text("color").len() == 6
                && text("color").bytes().all(|byte| byte.is_ascii_hexdigit());
            let fault = match (
                state.labels.has(text("name")),
                color && text("description").chars().count() <= 100,
            ) {
                (true, _) => "already_exists",
                (false, false) => "invalid",
                (false, true) => {
                    state.labels.add(text("name"));
                    state.labels.created.push(request.body.clone());
                    return Some(status(201, request.body.clone()));
                }
            };
            let errors = json!([{ "resource": "Label", "code": fault, "field": "name" }]);
            status(
                422,
                json!({ "message": "Validation Failed", "errors": errors }),
            )
        }
        _ => return None,
    })
}
