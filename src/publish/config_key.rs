//! The key of a config. It distinguishes several configs of one repository in all names on GitHub.

use crate::files::sha256_hex;
use crate::model::RepoPath;

/// The key of a config, such as `default` for `goldgate.yaml` at the root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigKey(String);

/// The key of `goldgate.yaml` at the root.
const DEFAULT: &str = "default";
/// The name under which a run uploads its folder.
const ARTIFACT: &str = "goldgate-report";
/// The name under which a run of the model tier uploads its folder, if it blocks nothing and no approval looks for it.
const MODEL_ARTIFACT: &str = "goldgate-model";
/// The name under which recordings that are not committed are uploaded.
const RECORDINGS: &str = "goldgate-recordings";
/// The branch of the baseline's pull request.
const BRANCH: &str = "goldgate/baseline";

impl ConfigKey {
    /// The key from the workflow, else one that is made from the config's path.
    pub fn new(stated: &str, config: &RepoPath) -> Self {
        match stated {
            "" | DEFAULT => Self(of_path(config.as_str())),
            _ => Self(slug(stated)),
        }
    }

    /// Whether a text is a key without a change: a changed one could be the same as another.
    pub fn is_key(text: &str) -> bool {
        !text.is_empty() && slug(text) == text
    }

    /// The key as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name of a run's artifact.
    pub fn artifact(&self) -> String {
        self.after(ARTIFACT, "-")
    }

    /// The name of the artifact of a run of the model tier that blocks nothing.
    pub fn artifact_of_models(&self) -> String {
        self.after(MODEL_ARTIFACT, "-")
    }

    /// The name of a check run about a tier or a mode.
    pub fn check(&self, subject: &str) -> String {
        format!("{} ({subject})", self.after("goldgate", "/"))
    }

    /// The name of the artifact with the recordings of a head commit.
    pub fn recordings_artifact(&self, head: &str) -> String {
        self.after(&format!("{RECORDINGS}-{head}"), "-")
    }

    /// The branch of the pull request with the default branch's moved baseline.
    pub fn branch(&self) -> String {
        self.after(BRANCH, "-")
    }

    fn after(&self, name: &str, separator: &str) -> String {
        if self.0 == DEFAULT {
            name.to_owned()
        } else {
            format!("{name}{separator}{}", self.0)
        }
    }
}

/// `evals/goldgate.yaml` becomes `evals`. If another path could have the same slug, digits of the path's digest follow.
fn of_path(path: &str) -> String {
    if path == "goldgate.yaml" {
        return DEFAULT.to_owned();
    }
    let short = path.strip_suffix("/goldgate.yaml").unwrap_or(path);
    let is_unique = short
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'/'));
    if is_unique && short != path && short != DEFAULT && short.len() <= 40 {
        return slug(short);
    }
    format!(
        "{}-{}",
        slug(short),
        sha256_hex(path.as_bytes()).get(..8).unwrap_or_default()
    )
}

/// The characters of a key.
fn is_plain(char: char) -> bool {
    char.is_ascii_alphanumeric() || matches!(char, '_' | '.' | '-')
}

fn slug(text: &str) -> String {
    let chars = text.chars().take(40);
    let slug: String = chars
        .map(|char| if is_plain(char) { char } else { '-' })
        .collect();
    slug.trim_matches(['-', '.']).to_owned()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::ConfigKey;
    use crate::model::RepoPath;

    fn key(stated: &str, path: &str) -> ConfigKey {
        ConfigKey::new(stated, &RepoPath::root().join(path).unwrap())
    }

    #[test]
    fn every_name_on_github_has_the_key_except_for_the_config_at_the_root() {
        let root = key("default", "goldgate.yaml");
        let names = [root.artifact(), root.branch()];
        assert_eq!(names, ["goldgate-report", "goldgate/baseline"]);
        assert_eq!(root.check("model"), "goldgate (model)");
        let other = key("default", "services/a/goldgate.yaml");
        let names = [other.artifact(), other.branch()];
        assert_eq!(
            names,
            ["goldgate-report-services-a", "goldgate/baseline-services-a",]
        );
        assert_eq!(other.check("model"), "goldgate/services-a (model)");
        assert_eq!(key("Night ly!", "goldgate.yaml").as_str(), "Night-ly");
    }

    #[test]
    fn a_stated_key_has_to_be_one_as_it_is() {
        for good in [
            "default",
            "api",
            "API",
            "services-a",
            "v1.2_x",
            &"k".repeat(40),
        ] {
            assert!(ConfigKey::is_key(good), "{good}");
        }
        for bad in [
            "",
            "größe",
            "日本",
            "a b",
            "a/b",
            "-a",
            "a.",
            &"k".repeat(41),
        ] {
            assert!(!ConfigKey::is_key(bad), "{bad}");
        }
    }

    #[test]
    fn two_configs_have_two_keys() {
        let paths = [
            "goldgate.yaml",
            "default/goldgate.yaml",
            "a/b/goldgate.yaml",
            "a-b/goldgate.yaml",
            "a.b/goldgate.yaml",
            "a/b.yaml",
            "a/b",
            "a-b.yaml",
            "other.yaml",
        ];
        let keys: BTreeSet<String> = paths
            .iter()
            .map(|path| key("", path).as_str().to_owned())
            .collect();
        assert_eq!(keys.len(), paths.len(), "{keys:?}");
    }
}
