//! Who edited a comment. Everybody with write access may edit a comment of another account, and only GraphQL tells.

use serde::Deserialize;
use serde_json::json;

use super::account::AccountForm;
use super::{GitHub, GitHubError, parsed};
use crate::model::{Comment, CommentEdit};

/// The most edits that are listed, the newest.
pub const LISTED_EDITS: usize = 100;

const EDITS: &str = "query ($id: ID!) { node(id: $id) { ... on IssueComment { lastEditedAt editor { ...account } \
    userContentEdits(first: 100) { nodes { editedAt editor { ...account } } } } } } \
    fragment account on Actor { __typename login }";

impl GitHub {
    /// The edits of a comment, those of its author among them; at least the last one, and the 100 newest.
    ///
    /// # Errors
    /// GraphQL did not answer, or does not know the comment.
    pub fn edits_of(&self, comment: &Comment) -> Result<Vec<CommentEdit>, GitHubError> {
        let path = &self.graphql.path;
        let body = json!({ "query": EDITS, "variables": { "id": comment.node } });
        let answer = self.ask_repeatable(path, &body, "while reading who edited the comment")?;
        let form: EditsAnswerForm = parsed(&answer, path)?;
        // An answer with errors has null for what could not be read. Only of a server that does not know the edits, nobody can read them; any
        // other error may be gone at the next request.
        if let Some(error) = form
            .errors
            .iter()
            .flatten()
            .find(|error| !error.is_of_old_server())
        {
            return Err(GitHubError::Failed(anyhow::anyhow!(
                "{path}: {}",
                error.message
            )));
        }
        let whole = form
            .data
            .filter(|_| form.errors.is_none())
            .and_then(|data| data.node);
        let comment = whole
            .filter(|comment| comment.user_content_edits.is_some())
            .ok_or(GitHubError::Missing)?;
        let last = comment.last_edited_at.map(|at| EditForm {
            edited_at: at,
            editor: comment.editor,
        });
        let listed = comment
            .user_content_edits
            .and_then(|list| list.nodes)
            .unwrap_or_default();
        Ok(listed
            .into_iter()
            .flatten()
            .chain(last)
            .map(CommentEdit::from)
            .collect())
    }
}

#[derive(Deserialize)]
struct EditsAnswerForm {
    data: Option<EditsDataForm>,
    errors: Option<Vec<EditsErrorForm>>,
}

#[derive(Deserialize)]
struct EditsErrorForm {
    #[serde(default)]
    message: String,
    extensions: Option<ErrorExtensionsForm>,
}

#[derive(Deserialize)]
struct ErrorExtensionsForm {
    code: Option<String>,
}

impl EditsErrorForm {
    /// Whether the server does not know a field or a type of the question.
    fn is_of_old_server(&self) -> bool {
        let code = self
            .extensions
            .as_ref()
            .and_then(|extensions| extensions.code.as_deref());
        code.is_some_and(|code| UNKNOWN.contains(&code))
    }
}

/// The codes of errors about fields and types that a server does not have (graphql-ruby, "Static Validation").
const UNKNOWN: [&str; 2] = ["undefinedField", "undefinedType"];

#[derive(Deserialize)]
struct EditsDataForm {
    node: Option<EditedCommentForm>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct EditedCommentForm {
    last_edited_at: Option<String>,
    editor: Option<EditorForm>,
    user_content_edits: Option<EditListForm>,
}

#[derive(Deserialize)]
struct EditListForm {
    nodes: Option<Vec<Option<EditForm>>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct EditForm {
    edited_at: String,
    editor: Option<EditorForm>,
}

#[derive(Deserialize)]
struct EditorForm {
    #[serde(rename = "__typename")]
    kind: String,
    login: String,
}

impl From<EditForm> for CommentEdit {
    fn from(form: EditForm) -> Self {
        // GraphQL names the account of an app without the suffix that REST gives it.
        let login = |EditorForm { kind, login }| {
            AccountForm {
                login,
                kind: Some(kind),
            }
            .login()
        };
        Self {
            by: form.editor.map(login),
            at: form.edited_at,
        }
    }
}
