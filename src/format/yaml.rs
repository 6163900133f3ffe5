//! Typed YAML parsing and positions by path; the only module that uses the YAML crates.

pub mod edit;
pub mod json_text;

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

use saphyr_parser::{Event, Parser};
use serde::de::DeserializeOwned;

use super::conflict::{ConflictProblem, conflict};
use super::json::phrase;
pub use super::step::Step;
use crate::diag::{Code, Diagnostic, Point};
use crate::files::SourceText;
use crate::model::InputLimit;

/// Reads the whole text as one typed document.
///
/// # Errors
/// The position at which the text does not match the type.
pub fn whole<T: DeserializeOwned>(source: &SourceText) -> Result<T, Diagnostic> {
    if let Some(problem) = unfit(source) {
        return Err(problem);
    }
    again(source)
}

/// Reads the whole text as one value, with the keys that others merge into it by `<<`.
///
/// # Errors
/// As [`whole`], and what cannot be merged.
pub fn merged(source: &SourceText) -> Result<serde_json::Value, Diagnostic> {
    let mut value: serde_yaml::Value = whole(source)?;
    let refuse = |error: serde_yaml::Error| {
        let what = format!("invalid YAML: {error}");
        source.problem(
            0,
            Code::BAD_VALUE,
            what,
            "merge a mapping or a list of mappings",
        )
    };
    value.apply_merge().map_err(refuse)?;
    serde_yaml::from_value(value).map_err(refuse)
}

/// Reads a text that [`whole`] accepts again, as another type.
///
/// # Errors
/// The position at which the text does not match the type.
pub fn again<T: DeserializeOwned>(source: &SourceText) -> Result<T, Diagnostic> {
    serde_yaml::from_str(&source.text).map_err(|error| {
        let message = error.to_string();
        let plain = match error.location() {
            Some(_) => message
                .rsplit_once(" at line ")
                .map_or(message.as_str(), |(text, _)| text),
            None => message.as_str(),
        };
        let found = phrase(plain, true);
        let found = match found.code {
            Code::BAD_VALUE => phrase(&format!("invalid YAML: {plain}"), true),
            _ => found,
        };
        let problem = Diagnostic::of_file(&source.file, found.code, found.what, found.help);
        match error.location() {
            Some(location) => problem.at(point(end(source), location.line(), location.column())),
            None => problem,
        }
    })
}

/// Positions of the keys and elements of a text. The only way to get one, so that a text is walked once, not once a problem.
pub struct YamlLocations<'a> {
    source: &'a SourceText,
    /// Built on first use.
    index: OnceCell<YamlIndex>,
}

impl<'a> YamlLocations<'a> {
    /// The positions of a text, not built yet.
    pub fn of(source: &'a SourceText) -> Self {
        Self {
            source,
            index: OnceCell::new(),
        }
    }

    /// The position of the node at `path`: its key if it has one, else the node; or that of the nearest existing ancestor.
    pub fn at(&self, path: &[Step<'_>]) -> Point {
        self.index
            .get_or_init(|| YamlIndex::of(self.source))
            .locate(path)
    }
}

/// Positions of all keys and elements of a text.
struct YamlIndex(YamlNode);

#[derive(Default)]
struct YamlNode {
    at: Option<Point>,
    inside: HashMap<WalkStep, YamlNode>,
}

impl YamlIndex {
    /// Walks the text once.
    fn of(source: &SourceText) -> Self {
        let mut root = YamlNode::default();
        walk(source, |path, at| {
            let mut node = &mut root;
            for step in path {
                node = node.inside.entry(step.clone()).or_default();
            }
            node.at = Some(at);
        });
        Self(root)
    }

    fn locate(&self, path: &[Step<'_>]) -> Point {
        let (mut node, mut best) = (&self.0, Point { line: 1, column: 1 });
        for step in path {
            let Some(next) = node.inside.get(&WalkStep::of(*step)) else {
                break;
            };
            best = next.at.unwrap_or(best);
            node = next;
        }
        best
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum WalkStep {
    Key(String),
    At(usize),
}

impl WalkStep {
    fn of(step: Step<'_>) -> Self {
        match step {
            Step::Key(key) => Self::Key(key.to_owned()),
            Step::At(index) => Self::At(index),
        }
    }
}

/// Deepest allowed nesting. Files that people write are less than ten levels deep.
const DEPTH: usize = InputLimit::YAML_LEVELS.count();

/// Checks a text before the typed parse: nesting that costs memory and time, keys that are not texts, and duplicate keys, of which the YAML
/// crate keeps the last and loses a setting. Only the keys of open mappings are stored.
fn unfit(source: &SourceText) -> Option<Diagnostic> {
    let (mut open, last): (Vec<OpenNode>, Point) = (Vec::new(), end(source));
    for event in Parser::new_from_str(&source.text) {
        // Other syntax errors are reported by the typed parse; it must not see deep nesting.
        let Ok((event, span)) = event else {
            return unparsed(source);
        };
        let refuse = |code, what: String, help: &str| {
            let at = point(last, span.start.line(), span.start.col() + 1);
            Some(Diagnostic::of_file(&source.file, code, what, help).at(at))
        };
        let opened = match &event {
            Event::MappingStart(..) => Some(OpenNode::Mapping {
                keys: HashSet::new(),
                next: MappingNext::Key,
            }),
            Event::SequenceStart(..) => Some(OpenNode::List),
            Event::Scalar(..) | Event::Alias(..) => None,
            Event::MappingEnd | Event::SequenceEnd => {
                open.pop();
                continue;
            }
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(..)
            | Event::DocumentEnd => {
                continue;
            }
        };
        match (open.last_mut(), &event) {
            (
                Some(OpenNode::Mapping {
                    keys,
                    next: next @ MappingNext::Key,
                }),
                Event::Scalar(key, ..),
            ) => {
                if !keys.insert(key.to_string()) {
                    return refuse(
                        Code::DUPLICATE_KEY,
                        format!("duplicate key \"{key}\""),
                        "keep one of them",
                    );
                }
                *next = MappingNext::Value;
            }
            (
                Some(OpenNode::Mapping {
                    next: MappingNext::Key,
                    ..
                }),
                _,
            ) => {
                return refuse(
                    Code::BAD_KEY,
                    "this key is not a string".to_owned(),
                    "write a plain word as the key",
                );
            }
            (
                Some(OpenNode::Mapping {
                    next: next @ MappingNext::Value,
                    ..
                }),
                _,
            ) => *next = MappingNext::Key,
            (Some(OpenNode::List) | None, _) => {}
        }
        if opened.is_some() && open.len() == DEPTH {
            let what = format!("this is nested more than {DEPTH} levels deep");
            return refuse(Code::TOO_DEEP, what, "flatten it");
        }
        open.extend(opened);
    }
    None
}

/// What is wrong with a text that the parser gives up on, if more is known than that.
fn unparsed(source: &SourceText) -> Option<Diagnostic> {
    let of_git = |(at, problem): (usize, ConflictProblem)| {
        source.problem(at, Code::BAD_VALUE, problem.what, problem.help)
    };
    unclosed(source).or_else(|| conflict(&source.text).map(of_git))
}

/// Counts unclosed brackets in the raw text: the parser gives up on them before it reports their depth.
fn unclosed(source: &SourceText) -> Option<Diagnostic> {
    let mut depth = 0_usize;
    let offset = source.text.bytes().position(|byte| {
        match byte {
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > DEPTH
    })?;
    Some(source.problem(
        offset,
        Code::TOO_DEEP,
        format!("this is nested more than {DEPTH} levels deep"),
        "flatten it",
    ))
}

/// A mapping or a list that is still open.
enum OpenNode {
    Mapping {
        keys: HashSet<String>,
        next: MappingNext,
    },
    List,
}

enum MappingNext {
    Key,
    Value,
}

enum YamlFrame {
    List(usize),
    MappingKey,
    MappingValue,
}

/// Calls `visit` with the path and position of every key and element, in text order; stops at a syntax error.
fn walk(source: &SourceText, mut visit: impl FnMut(&[WalkStep], Point)) {
    let mut frames: Vec<YamlFrame> = Vec::new();
    let (mut path, last): (Vec<WalkStep>, Point) = (Vec::new(), end(source));
    for event in Parser::new_from_str(&source.text) {
        let Ok((event, span)) = event else { return };
        let at = point(last, span.start.line(), span.start.col() + 1);
        let opens = match &event {
            Event::MappingStart(..) => Some(YamlFrame::MappingKey),
            Event::SequenceStart(..) => Some(YamlFrame::List(0)),
            Event::Scalar(..) | Event::Alias(..) => None,
            Event::MappingEnd | Event::SequenceEnd => {
                frames.pop();
                leave(&mut frames, &mut path);
                continue;
            }
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(..)
            | Event::DocumentEnd => {
                continue;
            }
        };
        match frames.last_mut() {
            None | Some(YamlFrame::MappingValue) => {}
            Some(YamlFrame::List(index)) => {
                path.push(WalkStep::At(*index));
                visit(&path, at);
            }
            Some(frame @ YamlFrame::MappingKey) => {
                let Event::Scalar(key, ..) = &event else {
                    return;
                };
                *frame = YamlFrame::MappingValue;
                path.push(WalkStep::Key(key.to_string()));
                visit(&path, at);
                continue;
            }
        }
        if frames.len() >= DEPTH {
            return;
        }
        match opens {
            Some(frame) => frames.push(frame),
            None => leave(&mut frames, &mut path),
        }
    }
}

/// Ends a value and advances its parent.
fn leave(frames: &mut [YamlFrame], path: &mut Vec<WalkStep>) {
    match frames.last_mut() {
        None => return,
        Some(YamlFrame::List(index)) => *index += 1,
        Some(frame) => *frame = YamlFrame::MappingKey,
    }
    path.pop();
}

fn end(source: &SourceText) -> Point {
    source.point(source.text.len())
}

/// A position that a YAML parser names. Parsers count a line after the last one, and a carriage return as a line: no position is behind
/// the end of the text.
fn point(last: Point, line: usize, column: usize) -> Point {
    let narrow = |number| u32::try_from(number).unwrap_or(u32::MAX);
    if narrow(line) > last.line {
        last
    } else {
        Point {
            line: narrow(line),
            column: narrow(column),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Step::{At, Key};
    use super::whole;
    use crate::diag::{Code, Point};
    use crate::files::SourceText;
    use crate::model::RepoPath;

    fn source(text: &str) -> SourceText {
        SourceText::from_text(RepoPath::root().child("a.yaml"), text.to_owned())
    }

    #[test]
    fn no_position_is_behind_the_end_of_the_text() {
        for text in [
            "a: 1\nb",
            "a: 1\nb\n",
            "a: 1\nb: [",
            "a: 1\r\r\rb\n",
            "a: {b: 1\r\rb: 2}",
            "a: 1\r\ra: 2",
        ] {
            let at = whole::<serde_json::Value>(&source(text))
                .unwrap_err()
                .at
                .unwrap();
            let lines = 1 + u32::try_from(text.matches('\n').count()).unwrap();
            assert!((1..=lines).contains(&at.line), "{text:?}: {at:?}");
        }
        let at = whole::<serde_json::Value>(&source("a: 1\nb"))
            .unwrap_err()
            .at;
        assert_eq!(at, Some(Point { line: 2, column: 2 }));
    }

    #[test]
    fn a_path_leads_to_its_key_or_element() {
        let source = source(
            "version: 1\nsuites:\n  - id: a\n    gates: { f1: { min: 1 } }\n  - id: b\n    gates:\n      f1: [1, 2]\n",
        );
        let locations = super::YamlLocations::of(&source);
        let at = |path: &[super::Step<'_>]| locations.at(path);
        assert_eq!(
            at(&[Key("suites"), At(0), Key("gates"), Key("f1"), Key("min")]),
            Point {
                line: 4,
                column: 20
            }
        );
        assert_eq!(
            at(&[Key("suites"), At(1), Key("id")]),
            Point { line: 5, column: 5 }
        );
        assert_eq!(
            at(&[Key("suites"), At(1), Key("gates"), Key("f1"), At(1)]),
            Point {
                line: 7,
                column: 15
            }
        );
        assert_eq!(
            at(&[Key("suites"), At(1), Key("nowhere")]),
            Point { line: 5, column: 5 }
        );
    }

    #[test]
    fn duplicate_keys_are_a_problem() {
        let problem =
            whole::<std::collections::BTreeMap<String, u32>>(&source("a: 1\nb: 2\na: 3\n"))
                .unwrap_err();
        assert_eq!(
            problem.to_string(),
            "a.yaml:3:1: duplicate key \"a\"; keep one of them [duplicate-key]"
        );
    }

    #[test]
    fn deep_nesting_is_refused_early() {
        let flow = format!("a: {}", "{a: ".repeat(100_000));
        let behind = format!("? [x]\n: 1\nb:\n  {}", "- ".repeat(40_000));
        let (lists, mappings) = (
            format!("targets: {}", "[".repeat(100_000)),
            "{a: ".repeat(100_000),
        );
        for (text, code) in [
            ("- ".repeat(40_000), "too-deep"),
            (flow, "too-deep"),
            (behind, "bad-key"),
            (lists, "too-deep"),
            (mappings, "too-deep"),
        ] {
            let problem =
                whole::<std::collections::BTreeMap<String, u32>>(&source(&text)).unwrap_err();
            assert_eq!(problem.code.as_str(), code);
        }
        let fits = format!("{}1{}", "[".repeat(60), "]".repeat(60));
        assert_ne!(
            whole::<u32>(&source(&fits)).unwrap_err().code,
            Code::TOO_DEEP
        );
    }

    #[test]
    fn many_positions_need_one_walk() {
        let text: String = (0..4000)
            .map(|number| format!("- id: a{number}\n  kind: x\n"))
            .collect();
        let (source, steps) = (source(&text), |index| [At(index), Key("kind")]);
        let locations = super::YamlLocations::of(&source);
        for number in 0..4000 {
            let line = u32::try_from(2 * number + 2).unwrap();
            assert_eq!(locations.at(&steps(number)), Point { line, column: 3 });
        }
    }
}
