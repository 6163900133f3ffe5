//! The contents of files by their ids, many in one request.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::json;

use super::{GitHub, GitHubError, parsed};
use crate::github::client::Blob;
use crate::world::Objects;

/// Number of files in one request.
const AT_ONCE: usize = 100;
/// Maximum number of files that are read in this way.
const MOST: usize = 1_000;

impl GitHub {
    /// Returns the files of this repository with these ids, as far as GraphQL gives their whole text: not binary ones, not large ones,
    /// and at most 1,000. Without an answer it returns none. The caller reads the others one by one.
    pub(super) fn texts_by_id(&self, ids: &[&str]) -> BTreeMap<String, Vec<u8>> {
        let mut files = BTreeMap::new();
        for ids in ids.get(..MOST).unwrap_or(ids).chunks(AT_ONCE) {
            let Ok(texts) = self.some_texts(ids) else {
                break;
            };
            // A text is cut where it is long, and converted where it is not UTF-8: then it has another id.
            let whole = texts
                .into_iter()
                .filter(|(id, text)| Blob::File(id.clone()).holds(text));
            files.extend(whole);
        }
        files
    }

    fn some_texts(&self, ids: &[&str]) -> Result<Vec<(String, Vec<u8>)>, GitHubError> {
        let (owner, name) = self.repository.split_once('/').unwrap_or_default();
        let mut fields = String::new();
        for id in ids {
            if !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                fields.push_str(&format!("f{id}: object(oid: \"{id}\") {{ ...file }}\n"));
            }
        }
        let query = format!(
            "query ($owner: String!, $name: String!) {{ repository(owner: $owner, name: $name) {{\n{fields}}} }}\n\
             fragment file on Blob {{ text }}"
        );
        let body = json!({ "query": query, "variables": { "owner": owner, "name": name } });
        let path = &self.graphql.path;
        let answer = self.ask_repeatable(path, &body, "while reading files of a commit")?;
        let form: TextsAnswerForm = parsed(&answer, path)?;
        let files = form
            .data
            .and_then(|data| data.repository)
            .unwrap_or_default()
            .into_iter();
        Ok(files
            .filter_map(|(name, file)| {
                Some((name.strip_prefix('f')?.to_owned(), file?.text?.into_bytes()))
            })
            .collect())
    }

    /// Returns the files with these ids: their texts many at once, the others one by one. Every content has its id.
    ///
    /// # Errors
    /// A failed request, or a content with another id.
    pub fn files_by_id(&self, ids: &[&str]) -> anyhow::Result<BTreeMap<String, Vec<u8>>> {
        let mut files = self.texts_by_id(ids);
        let left: Vec<&str> = ids
            .iter()
            .copied()
            .filter(|id| !files.contains_key(*id))
            .collect();
        anyhow::ensure!(
            left.len() <= self.most_files(),
            "{} files are not in the commit's archive as they were committed, too many to read one by one; remove export-ignore, \
             export-subst, ident and eol from .gitattributes for golden files and recordings",
            left.len()
        );
        for id in left {
            let bytes = self.blob(id)?;
            anyhow::ensure!(
                Blob::File(id.to_owned()).holds(&bytes),
                "GitHub's answer for the file {id} is another file"
            );
            files.insert(id.to_owned(), bytes);
        }
        Ok(files)
    }
}

#[derive(Deserialize)]
struct TextsAnswerForm {
    data: Option<TextsDataForm>,
}

#[derive(Deserialize)]
struct TextsDataForm {
    repository: Option<BTreeMap<String, Option<TextForm>>>,
}

#[derive(Deserialize)]
struct TextForm {
    text: Option<String>,
}
