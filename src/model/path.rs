//! Paths inside the repository: relative, with `/`, never outside.

use std::borrow::{Borrow, Cow};
use std::fmt;
use std::sync::Arc;

use globset::{Glob, GlobBuilder, GlobMatcher};

/// A normalized path relative to the repository's root: no `.`, no `..`, no leading `/`. The root is the empty path.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RepoPath(Arc<str>);

/// Why a text is not a valid path inside the repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BadPath {
    /// It is absolute.
    Absolute,
    /// Its `..` leave the repository.
    Leaves,
    /// It contains a NUL byte or a backslash.
    Odd,
}

impl fmt::Display for BadPath {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Absolute => "is absolute",
            Self::Leaves => "leaves the repository",
            Self::Odd => "contains a NUL byte or a backslash",
        })
    }
}

impl RepoPath {
    /// The repository's root.
    pub fn root() -> Self {
        Self("".into())
    }

    /// Resolves `text` relative to this folder.
    ///
    /// # Errors
    /// Why it is not a path inside the repository.
    pub fn join(&self, text: &str) -> Result<Self, BadPath> {
        if text.starts_with('/') {
            return Err(BadPath::Absolute);
        }
        if text.contains(['\0', '\\']) {
            return Err(BadPath::Odd);
        }
        let mut parts: Vec<&str> = self.0.split('/').filter(|part| !part.is_empty()).collect();
        for part in text.split('/') {
            match part {
                "" | "." => {}
                ".." => {
                    parts.pop().ok_or(BadPath::Leaves)?;
                }
                name => parts.push(name),
            }
        }
        Ok(Self(parts.join("/").into()))
    }

    /// The entry `name` of this folder; `name` comes from a listing or an id and contains no `/`.
    pub fn child(&self, name: &str) -> Self {
        if self.0.is_empty() {
            Self(name.into())
        } else {
            Self([&*self.0, "/", name].concat().into())
        }
    }

    /// The entry at `path`, whose names are separated by `/`; as for [`Self::child`], they come from a listing or from this program.
    pub fn below(&self, path: &str) -> Self {
        path.split('/')
            .fold(self.clone(), |folder, name| folder.child(name))
    }

    /// Whether the path is `.git` or below it: a config must never cause a write there. Letter case is ignored, as on some file systems.
    pub fn is_of_git(&self) -> bool {
        self.0
            .split('/')
            .any(|part| part.eq_ignore_ascii_case(".git"))
    }

    /// Whether this is the folder itself, or something below it.
    pub fn is_within(&self, folder: &Self) -> bool {
        let rest = self.0.strip_prefix(&*folder.0);
        folder.0.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// This path after its folder `before` moved to `after`; `None` if it is not that folder or below it.
    pub fn rebased(&self, before: &Self, after: &Self) -> Option<Self> {
        let inner = self
            .is_within(before)
            .then(|| self.0[before.0.len()..].trim_start_matches('/'))?;
        Some(match inner {
            "" => after.clone(),
            inner => after.below(inner),
        })
    }

    /// The parent folder; the root is its own parent.
    pub fn parent(&self) -> Self {
        match self.0.rsplit_once('/') {
            Some((folder, _)) => Self(folder.into()),
            None => Self::root(),
        }
    }

    /// The last part of the path.
    pub fn name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or_default()
    }

    /// The path as text with `/`; empty for the root.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Paths compare, sort and hash by their text, so that a map can be searched by text.
impl Borrow<str> for RepoPath {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RepoPath {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(if self.0.is_empty() { "." } else { &self.0 })
    }
}

/// The characters with which a part of a pattern begins that is not plain text.
const WILDCARDS: [char; 4] = ['*', '?', '[', '{'];

/// A path pattern inside the repository: `*` matches within a folder, `**` across folders, also in a name (`src/**.py`). `[id]` matches one
/// of these letters, and this very name: frameworks call folders so.
#[derive(Debug, Clone)]
pub struct PathGlob {
    pattern: RepoPath,
    folder: RepoPath,
    file: Option<RepoPath>,
    /// The pattern, and what else it means; each of them is enough.
    matchers: Vec<GlobMatcher>,
}

impl PathGlob {
    /// Compiles the pattern `text` relative to `folder`, whose own name has no wildcards.
    ///
    /// # Errors
    /// Why the pattern is invalid.
    pub fn new(folder: &RepoPath, text: &str) -> Result<Self, String> {
        if text.trim().is_empty() {
            return Err("is empty".to_owned());
        }
        let escaped_folder = RepoPath(globset::escape(&folder.0).into());
        let (pattern, escaped) = (below(text, folder)?, below(text, &escaped_folder)?);
        let glob = build_glob(&escaped)
            .map_err(|error| format!("is not a valid pattern: {}", error.kind()))?;
        let mut matchers = vec![glob.compile_matcher()];
        let plain_brackets = text.contains('[').then(|| text.replace('[', "[[]"));
        for variant in [plain_brackets, across_folders(text)].into_iter().flatten() {
            if let Ok(glob) = build_glob(&below(&variant, &escaped_folder)?) {
                matchers.push(glob.compile_matcher());
            }
        }
        // What comes before the first name with a wildcard is a folder, or the file itself.
        let mut plain: Vec<&str> = Vec::new();
        for (name, escaped) in pattern.0.split('/').zip(escaped.0.split('/')) {
            if escaped.contains(WILDCARDS) && globset::escape(name) != escaped {
                break;
            }
            plain.push(name);
        }
        let plain = RepoPath(plain.join("/").into());
        let file = (plain == pattern).then(|| plain.clone());
        let folder = if file.is_some() {
            plain.parent()
        } else {
            plain
        };
        Ok(Self {
            pattern,
            folder,
            file,
            matchers,
        })
    }

    pub fn matches(&self, path: &RepoPath) -> bool {
        self.matchers
            .iter()
            .any(|matcher| matcher.is_match(path.as_str()))
    }

    /// The folder that contains all possible matches.
    pub fn folder(&self) -> &RepoPath {
        &self.folder
    }

    /// The only file that can match; `None` if the pattern has a wildcard.
    pub fn file(&self) -> Option<RepoPath> {
        self.file.clone()
    }

    /// The pattern as text, relative to the repository's root.
    pub fn as_str(&self) -> &str {
        self.pattern.as_str()
    }
}

fn below(text: &str, folder: &RepoPath) -> Result<RepoPath, String> {
    folder.join(text).map_err(|bad| bad.to_string())
}

fn build_glob(pattern: &RepoPath) -> Result<Glob, globset::Error> {
    GlobBuilder::new(pattern.as_str())
        .literal_separator(true)
        .build()
}

/// The pattern with each `**` that is a part of a name spread over folders, because a pattern library takes it for `*`; `None` if it has none.
fn across_folders(text: &str) -> Option<String> {
    let (mut spread, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once("**") {
        spread.push_str(before);
        let begins = spread
            .chars()
            .next_back()
            .is_none_or(|last| matches!(last, '/' | '{' | ','));
        let ends = after
            .chars()
            .next()
            .is_none_or(|next| matches!(next, '/' | '}' | ','));
        spread.push_str(if begins && ends { "**" } else { "*/**/*" });
        rest = after;
    }
    spread.push_str(rest);
    (spread != text).then_some(spread)
}

impl serde::Serialize for RepoPath {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

/// Reads a path from the root of the repository.
impl<'de> serde::Deserialize<'de> for RepoPath {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::root()
            .join(&text)
            .map_err(|bad| serde::de::Error::custom(format!("the path {text:?} {bad}")))
    }
}

impl schemars::JsonSchema for RepoPath {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "RepoPath".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        String::json_schema(generator)
    }
}

impl serde::Serialize for PathGlob {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl PartialEq for PathGlob {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

#[cfg(test)]
mod tests {
    use super::{BadPath, PathGlob, RepoPath};

    #[test]
    fn one_star_matches_in_a_folder_and_two_across_folders() {
        let at = |text: &str| RepoPath::root().join(text).unwrap();
        let table = [
            ("prompts/*.md", "a/prompts", "a/prompts/x.md", true),
            ("prompts/*.md", "a/prompts", "a/prompts/b/x.md", false),
            ("prompts/**", "a/prompts", "a/prompts/b/x.md", true),
            ("../src/**/*.py", "src", "src/b/c.py", true),
            ("tools.json", "a", "a/tools.json", true),
            ("tools.json", "a", "a/b/tools.json", false),
        ];
        for (text, folder, path, fits) in table {
            let glob = PathGlob::new(&at("a"), text).unwrap();
            assert_eq!(
                (glob.folder(), glob.matches(&at(path))),
                (&at(folder), fits),
                "{text} {path}"
            );
            assert_eq!(glob.file().is_some(), text == "tools.json", "{text}");
        }
        // The folder of the config has no wildcards.
        let table = [
            ("prompts/*.md", "a[b]{c}/prompts", None),
            ("tools.json", "a[b]{c}", Some("a[b]{c}/tools.json")),
        ];
        for (text, folder, file) in table {
            let glob = PathGlob::new(&at("a[b]{c}"), text).unwrap();
            assert_eq!(
                (glob.folder().as_str(), glob.file()),
                (folder, file.map(at)),
                "{text}"
            );
            assert!(glob.matches(&at("a[b]{c}").join(&text.replace('*', "x")).unwrap()));
        }
        let glob = PathGlob::new(&at("a"), "chat/[id]/*.ts").unwrap();
        assert!(
            ["a/chat/[id]/route.ts", "a/chat/i/route.ts"]
                .iter()
                .all(|path| glob.matches(&at(path)))
        );
        assert!(!glob.matches(&at("a/chat/id/route.ts")));
        let glob = PathGlob::new(&at("a"), "src/**.py").unwrap();
        assert!(
            ["a/src/x.py", "a/src/b/x.py", "a/src/b/c/x.py"]
                .iter()
                .all(|path| glob.matches(&at(path)))
        );
        assert!(!glob.matches(&at("a/src/b/x.md")) && !glob.matches(&at("a/x.py")));
        let glob = PathGlob::new(&at("a"), "{src/**,p/**/*.md}").unwrap();
        assert!(
            ["a/src/b/x", "a/p/x.md", "a/p/b/x.md"]
                .iter()
                .all(|path| glob.matches(&at(path)))
        );
        for bad in ["", " ", "/etc/*", "../../x", "a[", "a\\b"] {
            assert!(PathGlob::new(&at("a"), bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_path_never_leaves_the_repository() {
        let folder = RepoPath::root().join("a/b").unwrap();
        assert_eq!(folder.join("../c/./d//e").unwrap().as_str(), "a/c/d/e");
        assert_eq!(folder.join("../..").unwrap(), RepoPath::root());
        assert_eq!(folder.join("../../.."), Err(BadPath::Leaves));
        assert_eq!(folder.join("/etc/passwd"), Err(BadPath::Absolute));
        assert_eq!(folder.join("a\\b"), Err(BadPath::Odd));
    }

    #[test]
    fn parent_name_and_child_belong_together() {
        let file = RepoPath::root().child("a").child("b.json");
        assert_eq!(
            (file.as_str(), file.name(), file.parent().as_str()),
            ("a/b.json", "b.json", "a")
        );
        assert_eq!(RepoPath::root().parent(), RepoPath::root());
    }
}
