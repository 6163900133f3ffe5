//! Paths inside the repository: relative, with `/`, never leaving it.

use std::fmt;
use std::sync::Arc;

/// A path relative to the repository's root, normalised: no `.`, no `..`, no leading `/`.
/// The root itself is the empty path.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RepoPath(Arc<str>);

/// Why a text is no path inside the repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BadPath {
    /// It starts at the root of the machine.
    Absolute,
    /// Its `..` lead out of the repository.
    Leaves,
    /// It holds a NUL byte or a back slash.
    Odd,
}

impl fmt::Display for BadPath {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Absolute => "is absolute",
            Self::Leaves => "leaves the repository",
            Self::Odd => "holds a NUL byte or a back slash",
        })
    }
}

impl RepoPath {
    /// The repository's root.
    pub fn root() -> Self {
        Self("".into())
    }

    /// The path that `text` names when read from this folder.
    ///
    /// # Errors
    /// Why it names nothing inside the repository.
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

    /// The entry `name` of this folder; `name` comes from a listing or an id and holds no `/`.
    pub fn child(&self, name: &str) -> Self {
        match self.0.is_empty() {
            true => Self(name.into()),
            false => Self([&*self.0, "/", name].concat().into()),
        }
    }

    /// The folder that holds this entry; the root's parent is the root.
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

    /// The path as text, with `/`; the root is the empty text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RepoPath {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(if self.0.is_empty() { "." } else { &self.0 })
    }
}

#[cfg(test)]
mod tests {
    use super::BadPath;
    use super::RepoPath;

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
        assert_eq!((file.as_str(), file.name(), file.parent().as_str()), ("a/b.json", "b.json", "a"));
        assert_eq!(RepoPath::root().parent(), RepoPath::root());
    }
}
