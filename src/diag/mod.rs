//! Problems in the user's files: position, cause, remedy.
//!
//! Problems are collected, sorted by position and reported together; parsing does not stop at the first one.

mod code;
mod one_line;

use std::fmt;

pub use self::code::{Code, CodeSection, CodeText, code_sections};

pub(crate) use self::one_line::{one_line, without_runner_commands};

/// A position in a text, counted from 1; columns count characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Point {
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
}

/// Why a file or a folder could not be read. Callers branch on this, never on the text of a diagnostic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReadFailure {
    /// The file does not exist.
    MissingFile,
    /// The folder does not exist.
    MissingFolder,
    /// It exists but cannot be read.
    Unreadable,
    /// It exists on the commit, but its content was not fetched.
    NotFetched,
    /// The machine cannot read it now: too many open files, no memory, a broken disk. The file is not at fault.
    Machine,
}

impl ReadFailure {
    /// The code of the diagnostic.
    pub fn code(self) -> Code {
        match self {
            Self::MissingFile => Code::MISSING_FILE,
            Self::MissingFolder => Code::MISSING_FOLDER,
            Self::Unreadable => Code::UNREADABLE,
            Self::NotFetched => Code::NOT_READ,
            Self::Machine => Code::MACHINE,
        }
    }
}

/// A problem with its position and remedy.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Diagnostic {
    /// The file name as displayed.
    pub file: String,
    /// The position; `None` if the problem concerns the whole file.
    pub at: Option<Point>,
    /// A stable short name of the kind of problem, such as `unknown-key`.
    pub code: Code,
    /// The problem, with the value found.
    pub what: String,
    /// The remedy.
    pub help: String,
    /// Why the file could not be read, if that is the problem.
    pub read_failure: Option<ReadFailure>,
}

const CREATE: &str = "create it, or correct the path that names it";

impl Diagnostic {
    /// A problem of the whole file.
    pub fn of_file(
        file: impl fmt::Display,
        code: Code,
        description: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        let (file, description, help) = (file.to_string(), description.into(), help.into());
        Self {
            file,
            at: None,
            code,
            what: description,
            help,
            read_failure: None,
        }
    }

    /// A problem of the arguments.
    pub fn of_command_line(
        code: Code,
        description: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        Self::of_file("command line", code, description, help)
    }

    /// A file or a folder that could not be read.
    pub fn of_read(
        file: impl fmt::Display,
        failure: ReadFailure,
        description: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        Self {
            read_failure: Some(failure),
            ..Self::of_file(file, failure.code(), description, help)
        }
    }

    /// A file that does not exist.
    pub fn of_missing_file(file: impl fmt::Display) -> Self {
        Self::of_read(
            file,
            ReadFailure::MissingFile,
            "the file does not exist",
            CREATE,
        )
    }

    /// A folder that does not exist.
    pub fn of_missing_folder(folder: impl fmt::Display) -> Self {
        Self::of_read(
            folder,
            ReadFailure::MissingFolder,
            "the folder does not exist",
            CREATE,
        )
    }

    /// Whether the file could not be read for this reason.
    pub fn is_read_failure(&self, failure: ReadFailure) -> bool {
        self.read_failure == Some(failure)
    }

    /// The same problem at a position of its file.
    pub fn at(self, point: Point) -> Self {
        Self {
            at: Some(point),
            ..self
        }
    }
}

impl fmt::Display for Diagnostic {
    /// Renders one line that contains no commands for a terminal or a CI runner.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            file,
            at,
            code,
            what: description,
            help,
            read_failure: _,
        } = self;
        let position = at.map_or(String::new(), |point| {
            format!(":{}:{}", point.line, point.column)
        });
        out.write_str(&one_line(&format!(
            "{file}{position}: {description}; {help} [{}]",
            code.as_str()
        )))
    }
}

/// A list of problems, in order of discovery until sorted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Diagnostics {
    found: Vec<Diagnostic>,
}

impl Diagnostics {
    /// Adds one problem.
    pub fn push(&mut self, problem: Diagnostic) {
        self.found.push(problem);
    }

    /// Adds all problems of another list.
    pub fn extend(&mut self, others: Diagnostics) {
        self.found.extend(others.found);
    }

    /// Returns the value, or adds its problem.
    pub fn keep<T>(&mut self, outcome: Result<T, Diagnostic>) -> Option<T> {
        outcome.map_err(|problem| self.push(problem)).ok()
    }

    /// Returns the value, or adds its problems.
    pub fn keep_all<T>(&mut self, outcome: Result<T, Diagnostics>) -> Option<T> {
        outcome.map_err(|problems| self.extend(problems)).ok()
    }

    /// Whether one of them is a file that could not be read for this reason.
    pub fn has_read_failure(&self, failure: ReadFailure) -> bool {
        self.found
            .iter()
            .any(|problem| problem.is_read_failure(failure))
    }

    /// Whether there are problems and all have this code.
    pub fn are_all(&self, code: Code) -> bool {
        !self.is_empty() && self.found.iter().all(|problem| problem.code == code)
    }

    /// The lines of the problems, from 1.
    pub fn lines(&self) -> Vec<u32> {
        let points = self.found.iter().filter_map(|problem| problem.at);
        points.map(|point| point.line).collect()
    }

    /// Whether the list has no problems.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// Returns the value if the list has no problems.
    pub fn or<T>(self, value: T) -> Result<T, Diagnostics> {
        if self.is_empty() {
            Ok(value)
        } else {
            Err(self)
        }
    }

    /// The same problems at another position: that of the record from which the text with the problems was made.
    pub fn all_at(self, point: Point) -> Self {
        Self {
            found: self
                .found
                .into_iter()
                .map(|problem| problem.at(point))
                .collect(),
        }
    }

    /// The problems by file and position, without duplicates.
    pub fn sorted(mut self) -> Vec<Diagnostic> {
        self.found.sort();
        self.found.dedup();
        self.found
    }

    /// The first problem by file and position as text; empty without one.
    pub fn first_line(self) -> String {
        self.sorted()
            .first()
            .map(ToString::to_string)
            .unwrap_or_default()
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(problem: Diagnostic) -> Self {
        Self {
            found: vec![problem],
        }
    }
}

/// The most similar word of `known`, if one is similar enough to be meant.
pub fn nearest<'a>(text: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    nearest_within(text, known, usize::MAX)
}

/// The help for an unknown word: the most similar known one, else another help.
pub fn did_you_mean<K: AsRef<str>>(
    text: &str,
    known: impl IntoIterator<Item = K>,
    otherwise: impl Into<String>,
) -> String {
    let known: Vec<K> = known.into_iter().collect();
    let near = nearest(text, known.iter().map(K::as_ref));
    near.map_or_else(
        || otherwise.into(),
        |near| format!("did you mean \"{near}\"?"),
    )
}

/// The same, if at most two letters differ: then it is a slip, and no other word.
pub fn misspelt<'a>(text: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    nearest_within(text, known, 2)
}

fn nearest_within<'a>(
    text: &str,
    known: impl IntoIterator<Item = &'a str>,
    most: usize,
) -> Option<&'a str> {
    let mut near: Option<(usize, &str)> = None;
    for word in known {
        let distance = strsim::damerau_levenshtein(text, word);
        if distance > most.min(1 + word.len().min(text.len()) / 4) {
            continue;
        }
        if near.is_none_or(|nearest| (distance, word) < nearest) {
            near = Some((distance, word));
        }
    }
    Some(near?.1)
}

#[cfg(test)]
mod tests {
    use super::{Code, Diagnostic, Point, nearest};

    #[test]
    fn a_problem_displays_file_position_cause_remedy_and_code() {
        let problem = Diagnostic::of_file(
            "a.json",
            Code::UNKNOWN_KEY,
            "unknown key \"x\"",
            "remove it",
        );
        assert_eq!(
            problem.to_string(),
            "a.json: unknown key \"x\"; remove it [unknown-key]"
        );
        let placed = problem.at(Point { line: 3, column: 5 });
        assert_eq!(
            placed.to_string(),
            "a.json:3:5: unknown key \"x\"; remove it [unknown-key]"
        );
    }

    #[test]
    fn only_similar_words_are_suggested() {
        assert_eq!(
            nearest("keywrods", ["category", "keywords"]),
            Some("keywords")
        );
        assert_eq!(nearest("zzz", ["category", "keywords"]), None);
    }
}
