//! Comments of the pull request.

use serde_json::{Value, json};

use super::{Answer, Request, Standin, State, forbidden, invalid, missing, nothing, ok, status};

/// Every comment, in the order of their numbers.
#[derive(Default)]
pub struct Comments {
    all: Vec<Comment>,
    next: u64,
    locked: bool,
}

struct Comment {
    id: u64,
    issue: u64,
    author: String,
    body: String,
}

impl Standin {
    pub fn comment(&self, author: &str, body: &str) {
        self.change(|state| state.comments.add(super::pulls::NUMBER, author, body));
    }

    /// A person with write access edits a comment, whoever wrote it.
    pub fn change_comment(&self, id: u64, body: &str) {
        self.change(|state| {
            state
                .comments
                .all
                .iter_mut()
                .filter(|comment| comment.id == id)
                .for_each(|one| body.clone_into(&mut one.body));
        });
    }

    /// Somebody locks the conversation.
    pub fn lock(&self) {
        self.change(|state| state.comments.locked = true);
    }

    /// The comments of one pull request, whoever wrote them.
    pub fn bodies_on(&self, issue: u64) -> Vec<String> {
        self.change(|state| {
            let all = state.comments.all.iter().filter(|comment| comment.issue == issue);
            all.map(|comment| comment.body.clone()).collect()
        })
    }

    pub fn bodies(&self, author: &str) -> Vec<String> {
        self.change(|state| {
            state
                .comments
                .all
                .iter()
                .filter(|comment| comment.author == author)
                .map(|comment| comment.body.clone())
                .collect()
        })
    }
}

impl Comments {
    fn add(&mut self, issue: u64, author: &str, body: &str) -> u64 {
        self.next += 1;
        self.all.push(Comment { id: self.next, issue, author: author.to_owned(), body: body.to_owned() });
        self.next
    }

    /// Another writer's older text stands there again.
    pub fn overwrite(&mut self) {
        let old = self.all[0].body.replace("\"run\":8", "\"run\":7");
        self.all[0].body = old;
    }

    fn shown(&self, id: u64) -> Value {
        self.all.iter().find(|comment| comment.id == id).map(shown).unwrap()
    }
}

fn shown(comment: &Comment) -> Value {
    let Comment { id, issue: _, author, body } = comment;
    let url = format!("https://github.example/c/{id}");
    json!({ "id": id, "body": body, "html_url": url, "user": { "login": author, "type": "Bot" } })
}

/// `issues/N/comments` and `issues/comments/ID`.
pub fn answer(request: &Request, segments: &[&str], state: &mut State) -> Option<Answer> {
    let allowed = state.allows("pull-requests: write");
    let login = state.account.login.clone();
    let comments = &mut state.comments;
    Some(match (request.method.as_str(), segments) {
        ("GET", ["issues", issue, "comments"]) => {
            let issue: u64 = issue.parse().unwrap();
            let own: Vec<&Comment> = comments.all.iter().filter(|comment| comment.issue == issue).collect();
            request.page(&own, |comment| shown(comment))
        }
        ("POST", ["issues", _, "comments"]) if !allowed => forbidden("issues=write; pull_requests=write"),
        // Docs, "Locking conversations"; the text is GitHub's answer to this request.
        ("POST", ["issues", _, "comments"]) if comments.locked => {
            status(403, json!({ "message": "Unable to create comment because issue is locked." }))
        }
        ("POST", ["issues", issue, "comments"]) => {
            let issue: u64 = issue.parse().unwrap();
            match request.body["body"].as_str().filter(|body| body.chars().count() <= 65_536) {
                Some(body) => {
                    let id = comments.add(issue, &login, body);
                    status(201, comments.shown(id))
                }
                None => invalid(),
            }
        }
        (method, ["issues", "comments", id]) => {
            let id: u64 = id.parse().unwrap();
            if !comments.all.iter().any(|comment| comment.id == id) {
                return Some(missing());
            }
            match method {
                "GET" => ok(comments.shown(id)),
                "PATCH" => {
                    let body = request.body["body"].as_str().unwrap();
                    comments
                        .all
                        .iter_mut()
                        .filter(|comment| comment.id == id)
                        .for_each(|comment| body.clone_into(&mut comment.body));
                    ok(comments.shown(id))
                }
                "DELETE" => {
                    comments.all.retain(|comment| comment.id != id);
                    nothing()
                }
                // GitHub documents PATCH; a POST here is a mistake.
                _ => missing(),
            }
        }
        _ => return None,
    })
}
