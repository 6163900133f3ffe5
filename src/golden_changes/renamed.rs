//! The base commit under the head's names: suites and agents that state `was:`, and golden folders that moved.

use super::found::ChangeCollector;
use crate::files::{BaseFiles, FolderNames, MovedPath, RenamedAgent};
use crate::model::{AgentName, Config, GoldenChange, RepoPath, SettingFile, SuiteConfig};
use crate::suites::{kind, setting_files};

/// The base commit's config under the head's names, and how its files are found under them.
#[derive(Debug)]
pub struct RenamedBase {
    /// The config.
    pub config: Config,
    /// Where its files are on the head.
    pub moved: Vec<MovedPath>,
    /// The agents that have another name.
    pub agents: Vec<RenamedAgent>,
    /// What is listed.
    pub changes: Vec<GoldenChange>,
    /// Notes on `was:` that has no effect any more.
    pub idle: Vec<String>,
}

impl RenamedBase {
    /// Gives the base commit's suites, agents and golden folders the names of the head.
    pub fn of(base_config: &Config, head_config: &Config, base: &dyn BaseFiles) -> Self {
        let mut renamed = Renaming {
            base,
            base_config,
            head_config,
            collector: ChangeCollector::default(),
            result: Self {
                config: base_config.clone(),
                moved: Vec::new(),
                agents: Vec::new(),
                changes: Vec::new(),
                idle: Vec::new(),
            },
        };
        for suite in &head_config.suites {
            renamed.suite(suite);
        }
        let Renaming {
            collector, result, ..
        } = renamed;
        Self {
            changes: collector.all(),
            ..result
        }
    }
}

struct Renaming<'a> {
    base: &'a dyn BaseFiles,
    base_config: &'a Config,
    head_config: &'a Config,
    collector: ChangeCollector,
    result: RenamedBase,
}

impl<'a> Renaming<'a> {
    fn suite(&mut self, suite: &SuiteConfig) {
        let Some(old) = self.old(suite) else { return };
        if old.id != suite.id {
            self.suite_id(old, suite);
        } else if let Some(was) = &suite.was {
            self.result
                .idle
                .push(idle_name(suite.id.as_str(), was.as_str()));
        }
        self.golden_files(old, suite);
        for (name, agent) in &suite.agents {
            let Some(was) = &agent.was else { continue };
            if old.agents.contains_key(name) {
                let whose = format!("{}/{name}", suite.id);
                self.result.idle.push(idle_name(&whose, was.as_str()));
            } else if old.agents.contains_key(was) {
                self.agent(old, suite, was, name);
            }
        }
    }

    /// The base commit's suite of this id, else of the id that it had.
    fn old(&self, suite: &SuiteConfig) -> Option<&'a SuiteConfig> {
        match self.base_config.suite(&suite.id) {
            Some(same) => Some(same),
            None => self.base_config.suite(suite.was.as_ref()?),
        }
    }

    fn suite_id(&mut self, old: &SuiteConfig, new: &SuiteConfig) {
        for suite in &mut self.result.config.suites {
            if suite.id == old.id {
                suite.id.clone_from(&new.id);
            }
            if suite.runs_of.as_ref() == Some(&old.id) {
                suite.runs_of = Some(new.id.clone());
            }
        }
        self.lists(format!("`{}` was `{}`", new.id, old.id));
    }

    fn lists(&mut self, words: String) {
        self.collector.lists(words, Some(&self.head_config.file));
    }

    /// Finds the golden files and folders of a suite that the head names elsewhere.
    fn golden_files(&mut self, old: &SuiteConfig, new: &SuiteConfig) {
        let mut moves: Vec<MovedPath> = Vec::new();
        for (noun, base_path, head_path) in self.paths(new) {
            let Some(base_path) = base_path else {
                continue;
            };
            if base_path == head_path || rebased(&moves, &base_path) == head_path {
                continue;
            }
            let moved = MovedPath {
                before: base_path,
                after: head_path,
            };
            if self.is_free(&moved.after) && self.is_apart(&moved) {
                self.lists(format!(
                    "{noun} of `{}`: {} -> {}",
                    new.id, moved.before, moved.after
                ));
                moves.push(moved);
            }
        }
        let to = |path: &RepoPath| rebased(&moves, path);
        let with_paths = kind(&new.kind).map(|kind| kind.settings.with_paths);
        for suite in &mut self.result.config.suites {
            if suite.id == new.id {
                suite.path = to(&old.path);
                let terms = suite.terms.values_mut().map(|terms| &mut terms.file);
                for path in terms.chain(&mut suite.labels) {
                    *path = to(path);
                }
                if let Some(with_paths) = with_paths {
                    suite.settings = with_paths(&suite.settings, &to);
                }
            }
            if suite.runs_of.as_ref() == Some(&new.id) {
                suite.runs_in = suite.runs_in.as_ref().map(to);
            }
        }
        self.result.moved.extend(moves);
    }

    /// The golden files and folders that a suite names: what they are, their path on the base commit if it names them, and their path.
    fn paths(&self, suite: &SuiteConfig) -> Vec<(String, Option<RepoPath>, RepoPath)> {
        let old = self.old(suite).map_or_else(Vec::new, named_paths);
        let mut paths = Vec::new();
        for SettingFile { name, path } in named_paths(suite) {
            let base_file = old.iter().find(|file| file.name == name);
            let base_path = base_file.map(|file| file.path.clone());
            paths.push((name, base_path, path));
        }
        paths
    }

    /// Whether everything else that the configs name at the new place moved along, so that the move shows the base commit's other files as
    /// they were.
    fn is_apart(&self, moved: &MovedPath) -> bool {
        let (from, to) = (&moved.before, &moved.after);
        for file in self.base_config.suites.iter().flat_map(named_paths) {
            if to.is_within(&file.path) && file.path != *from {
                return false;
            }
        }
        for suite in &self.head_config.suites {
            for (_, base_path, head_path) in self.paths(suite) {
                if !head_path.is_within(to) && !to.is_within(&head_path) {
                    continue;
                }
                let moves_along = base_path
                    .is_none_or(|path| path.rebased(from, to).as_ref() == Some(&head_path));
                if !head_path.is_within(to) || !moves_along {
                    return false;
                }
            }
        }
        true
    }

    /// Whether the base commit has nothing at this path.
    fn is_free(&self, path: &RepoPath) -> bool {
        self.base.has_file(path, None) && self.base.has_folder(path, FolderNames::All, None)
    }

    fn renamed_suite(&mut self, new: &SuiteConfig) -> Option<&mut SuiteConfig> {
        let mut suites = self.result.config.suites.iter_mut();
        suites.find(|suite| suite.id == new.id)
    }

    fn agent(&mut self, old: &SuiteConfig, new: &SuiteConfig, was: &AgentName, name: &AgentName) {
        let Some(agent) = old.agents.get(was) else {
            return;
        };
        let mut moved: Vec<MovedPath> = agent
            .recordings()
            .map(|folder| MovedPath {
                before: folder.child(was.as_str()),
                after: folder.child(name.as_str()),
            })
            .collect();
        let Some(suite) = self.renamed_suite(new) else {
            return;
        };
        let (golden, labels) = (suite.path.clone(), suite.labels.clone());
        moved.push(MovedPath {
            before: old.path.child("expected").child(was.as_str()),
            after: golden.child("expected").child(name.as_str()),
        });
        // What lies at the new name already would be compared in place of what the agent had.
        if !moved.iter().all(|moved| self.is_free(&moved.after)) {
            return;
        }
        if let Some(suite) = self.renamed_suite(new)
            && let Some(agent) = suite.agents.remove(was)
        {
            suite.agents.insert(name.clone(), agent);
        }
        let readers = self.result.config.suites.iter();
        let readers = readers.filter(|suite| suite.runs_of.as_ref() == Some(&new.id));
        let mut named_in: Vec<RepoPath> = readers.map(|suite| suite.path.clone()).collect();
        named_in.push(golden);
        named_in.extend(labels);
        named_in.extend(moved.iter().map(|moved| moved.after.clone()));
        self.result.moved.extend(moved);
        self.result.agents.push(RenamedAgent {
            before: was.clone(),
            after: name.clone(),
            named_in,
        });
        self.lists(format!("`{}/{name}` was `{}/{was}`", new.id, new.id));
    }
}

/// The note on a suite or agent that states an old name although its new one is known.
pub fn idle_name(whose: &str, was: &str) -> String {
    format!("`{whose}`: `was: {was}` has no effect any more: remove it")
}

/// The path after these moves.
fn rebased(moves: &[MovedPath], path: &RepoPath) -> RepoPath {
    let moved = moves
        .iter()
        .find_map(|step| path.rebased(&step.before, &step.after));
    moved.unwrap_or_else(|| path.clone())
}

/// The golden files and folders that a suite names.
fn named_paths(suite: &SuiteConfig) -> Vec<SettingFile> {
    let golden = SettingFile {
        name: "golden files".to_owned(),
        path: suite.path.clone(),
    };
    let of_kind = kind(&suite.kind).map(|kind| &kind.settings);
    let mut named = vec![golden];
    named.extend(setting_files(of_kind, suite));
    named
}

#[cfg(test)]
mod tests {
    use super::{MovedPath, RenamedBase};
    use crate::diag::Diagnostic;
    use crate::files::{BaseFiles, Entry, FileMatch, Files, OtherCommit, SourceText};
    use crate::model::{Config, RepoPath};
    use crate::suites::read_config;

    /// A base commit that has nothing at any path.
    struct Nothing;

    impl Files for Nothing {
        fn list_all(&self, folder: &RepoPath) -> Result<Vec<Entry>, Diagnostic> {
            Err(Diagnostic::of_missing_folder(folder))
        }

        fn bytes(&self, file: &RepoPath) -> Result<Vec<u8>, Diagnostic> {
            Err(Diagnostic::of_missing_file(file))
        }
    }

    impl OtherCommit for Nothing {
        fn files(&self) -> &dyn Files {
            self
        }

        fn has_file(&self, _file: &RepoPath, bytes: Option<&[u8]>) -> bool {
            bytes.is_none()
        }
    }

    impl BaseFiles for Nothing {
        fn find(&self, _names: &[&str]) -> Result<Option<RepoPath>, String> {
            Ok(None)
        }

        fn likeness(&self, _before: &RepoPath, _after: &RepoPath) -> FileMatch {
            FileMatch::Differs
        }

        fn links_gone(&self) -> Vec<RepoPath> {
            Vec::new()
        }
    }

    fn config(suites: &[(&str, &str)]) -> Config {
        let suites = suites.iter().map(|(id, path)| {
            format!("  - {{ id: {id}, kind: tool_use, path: {path}, tools: {path}/tools.json, agents: {{ a: {{ deterministic: {{ replay: runs }} }} }} }}\n")
        });
        let text = format!("version: 1\nsuites:\n{}", suites.collect::<String>());
        let file = RepoPath::root().child("goldgate.yaml");
        let read = read_config(&SourceText::from_text(file, text));
        read.map_err(|problems| problems.first_line()).unwrap()
    }

    /// A move may show the base commit's files only to what moved along.
    #[test]
    fn golden_files_move_only_where_nothing_else_reads_them() {
        let moves = |before: &[(&str, &str)], after: &[(&str, &str)]| -> Vec<String> {
            let found = RenamedBase::of(&config(before), &config(after), &Nothing);
            let words = |MovedPath { before, after }: &MovedPath| format!("{before} -> {after}");
            found.moved.iter().map(words).collect()
        };
        let one = |path| [("s", path)];
        assert_eq!(moves(&one("a"), &one("b")), ["a -> b"]);
        assert_eq!(moves(&one("a"), &one("a/b")), ["a -> a/b"]);
        assert_eq!(moves(&one("a"), &one("a")), [""; 0]);
        let two = |path, other| [("s", path), ("t", other)];
        assert_eq!(moves(&two("a", "a"), &two("b", "b")), ["a -> b", "a -> b"]);
        assert_eq!(moves(&two("a", "c"), &two("b", "c")), ["a -> b"]);
        for (before, after) in [
            // Two suites would read one of both.
            (two("a", "c"), two("b", "b")),
            (two("a", "c"), two("b", "b/d")),
            // Into what another suite reads.
            (two("a", "c"), two("c/d", "c")),
            (two("a", "c"), two("b", "b/e")),
        ] {
            let found = moves(&before, &after);
            assert_eq!(found, [""; 0], "{before:?} -> {after:?}");
        }
    }
}
