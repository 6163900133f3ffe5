//! The only module that knows the YAML crates: typed reading, and places by path.

use std::collections::HashSet;

use saphyr_parser::Event;
use saphyr_parser::Parser;
use serde::de::DeserializeOwned;

use super::json::phrase;
use super::source::SourceText;
pub use super::step::Step;
use crate::diag::Diagnostic;
use crate::diag::Point;

/// Reads the whole text as one document, typed.
///
/// # Errors
/// The place where it is no such document.
pub fn whole<T: DeserializeOwned>(source: &SourceText) -> Result<T, Diagnostic> {
    if let Some(problem) = duplicate_key(source) {
        return Err(problem);
    }
    serde_yaml::from_str(&source.text).map_err(|error| {
        let message = error.to_string();
        let plain = match error.location() {
            Some(_) => message.rsplit_once(" at line ").map_or(message.as_str(), |(text, _)| text),
            None => message.as_str(),
        };
        let found = phrase(plain, true);
        let found = match found.code {
            "bad-value" => phrase(&format!("this is no YAML for goldgate: {plain}"), true),
            _ => found,
        };
        let problem = Diagnostic::of_file(&source.file, found.code, found.what, found.help);
        match error.location() {
            Some(place) => problem.at(point(place.line(), place.column())),
            None => problem,
        }
    })
}

/// Where the node at `path` stands: its key where it has one, else the node; the nearest ancestor that exists otherwise.
pub fn place(source: &SourceText, path: &[Step<'_>]) -> Point {
    let mut best = Point { line: 1, column: 1 };
    walk(source, |seen, at| {
        if seen.len() <= path.len() && !seen.is_empty() && seen.iter().zip(path).all(|(one, step)| one.is(*step)) {
            best = at;
        }
        Flow::Continue
    });
    best
}

/// A step as it is found while walking.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Found {
    Key(String),
    At(usize),
}

impl Found {
    fn is(&self, step: Step<'_>) -> bool {
        match (self, step) {
            (Self::Key(found), Step::Key(wanted)) => found == wanted,
            (Self::At(found), Step::At(wanted)) => *found == wanted,
            (Self::Key(_), Step::At(_)) | (Self::At(_), Step::Key(_)) => false,
        }
    }
}

enum Flow {
    Continue,
    Stop,
}

/// The YAML crate keeps the last of two equal keys of a free mapping; for people that is a lost setting.
fn duplicate_key(source: &SourceText) -> Option<Diagnostic> {
    let mut seen_paths = HashSet::new();
    let mut problem = None;
    walk(source, |path, at| {
        if let (Some(Found::Key(key)), false) = (path.last(), seen_paths.insert(path.to_vec())) {
            let what = format!("the key \"{key}\" stands here twice");
            problem = Some(Diagnostic::of_file(&source.file, "duplicate-key", what, "keep one of them").at(at));
            return Flow::Stop;
        }
        Flow::Continue
    });
    problem
}

enum Frame {
    List(usize),
    MappingKey,
    MappingValue,
}

/// Calls `visit` with the path and place of every key and element, in the order of the text; stops at a syntax error.
fn walk(source: &SourceText, mut visit: impl FnMut(&[Found], Point) -> Flow) {
    let mut frames: Vec<Frame> = Vec::new();
    let mut path: Vec<Found> = Vec::new();
    for event in Parser::new_from_str(&source.text) {
        let Ok((event, span)) = event else { return };
        let at = point(span.start.line(), span.start.col() + 1);
        let opens = match &event {
            Event::MappingStart(..) => Some(Frame::MappingKey),
            Event::SequenceStart(..) => Some(Frame::List(0)),
            Event::Scalar(..) | Event::Alias(..) => None,
            Event::MappingEnd | Event::SequenceEnd => {
                frames.pop();
                leave(&mut frames, &mut path);
                continue;
            }
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentStart(..) | Event::DocumentEnd => {
                continue;
            }
        };
        let visited = match frames.last_mut() {
            None => Flow::Continue,
            Some(Frame::List(index)) => {
                path.push(Found::At(*index));
                visit(&path, at)
            }
            Some(frame @ Frame::MappingKey) => {
                let Event::Scalar(key, ..) = &event else { return };
                *frame = Frame::MappingValue;
                path.push(Found::Key(key.to_string()));
                match visit(&path, at) {
                    Flow::Continue => continue,
                    Flow::Stop => return,
                }
            }
            Some(Frame::MappingValue) => Flow::Continue,
        };
        if let Flow::Stop = visited {
            return;
        }
        match opens {
            Some(frame) => frames.push(frame),
            None => leave(&mut frames, &mut path),
        }
    }
}

/// A value has ended: its frame moves on.
fn leave(frames: &mut [Frame], path: &mut Vec<Found>) {
    match frames.last_mut() {
        None => return,
        Some(Frame::List(index)) => *index += 1,
        Some(frame) => *frame = Frame::MappingKey,
    }
    path.pop();
}

fn point(line: usize, column: usize) -> Point {
    let narrow = |number| u32::try_from(number).unwrap_or(u32::MAX);
    Point { line: narrow(line), column: narrow(column) }
}

#[cfg(test)]
mod tests {
    use super::Step::At;
    use super::Step::Key;
    use super::place;
    use super::whole;
    use crate::diag::Point;
    use crate::format::SourceText;
    use crate::model::RepoPath;

    fn source(text: &str) -> SourceText {
        SourceText { file: RepoPath::root().child("a.yaml"), text: text.to_owned() }
    }

    #[test]
    fn a_path_leads_to_its_key_or_element() {
        let source = source(
            "version: 1\nsuites:\n  - id: a\n    gates: { f1: { min: 1 } }\n  - id: b\n    gates:\n      f1: [1, 2]\n",
        );
        let at = |path: &[super::Step<'_>]| place(&source, path);
        assert_eq!(at(&[Key("suites"), At(0), Key("gates"), Key("f1"), Key("min")]), Point { line: 4, column: 20 });
        assert_eq!(at(&[Key("suites"), At(1), Key("id")]), Point { line: 5, column: 5 });
        assert_eq!(at(&[Key("suites"), At(1), Key("gates"), Key("f1"), At(1)]), Point { line: 7, column: 15 });
        assert_eq!(at(&[Key("suites"), At(1), Key("nowhere")]), Point { line: 5, column: 5 });
    }

    #[test]
    fn a_key_that_stands_twice_is_a_problem() {
        let problem = whole::<std::collections::BTreeMap<String, u32>>(&source("a: 1\nb: 2\na: 3\n")).unwrap_err();
        assert_eq!(
            problem.to_string(),
            "a.yaml:3:1: the key \"a\" stands here twice; keep one of them [duplicate-key]"
        );
    }
}
