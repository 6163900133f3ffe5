//! Sets values in the text of a YAML file and changes nothing else: comments, order and style stay.

use std::ops::Range;

use saphyr_parser::{Event, Parser};

use super::{Step, WalkStep};
use crate::files::SourceText;

/// Sets the value at a path: replaces a scalar, or adds the missing keys to the innermost mapping that exists. The value is a scalar in
/// YAML. `None` if the text has another form there: an alias, a list that is too short, or no mapping. The caller reads the result again
/// before it is used.
pub fn with_value(source: &SourceText, path: &[Step<'_>], value: &str) -> Option<String> {
    let root = TextNode::of(source)?;
    let (mut node, mut rest) = (&root, path);
    while let Some((step, after)) = rest.split_first() {
        let Some(next) = node.child(*step) else { break };
        (node, rest) = (next, after);
    }
    let Some((first, after)) = rest.split_first() else {
        return match node.form {
            NodeForm::Scalar => Some(replaced(&source.text, node.range.clone(), value)),
            NodeForm::Flow | NodeForm::Block { .. } | NodeForm::Other => None,
        };
    };
    let entry = entry(*first, after, value)?;
    match node.form {
        NodeForm::Flow => {
            let start = node.range.start + 1;
            let inserted = if node.children.is_empty() {
                format!(" {entry} ")
            } else {
                format!(" {entry},")
            };
            Some(replaced(&source.text, start..start, &inserted))
        }
        NodeForm::Block { column } => {
            let end = end_of_line(&source.text, node.range.end);
            Some(replaced(
                &source.text,
                end..end,
                &format!("\n{}{entry}", " ".repeat(column)),
            ))
        }
        NodeForm::Scalar | NodeForm::Other => None,
    }
}

/// Puts a comment on a line of its own before the line of the node at a path, in place of a comment there that starts with the same words.
/// `None` if the path does not exist.
pub fn with_comment(
    source: &SourceText,
    path: &[Step<'_>],
    same: &str,
    comment: &str,
) -> Option<String> {
    let root = TextNode::of(source)?;
    let mut node = &root;
    for step in path {
        node = node.child(*step)?;
    }
    let text = &source.text;
    let line = text[..node.key].rfind('\n').map_or(0, |at| at + 1);
    let indent = text[line..].len() - text[line..].trim_start_matches(' ').len();
    let before = text[..line]
        .trim_end_matches('\n')
        .rfind('\n')
        .map_or(0, |at| at + 1);
    let present = text[before..line]
        .trim_start()
        .strip_prefix("# ")
        .is_some_and(|words| words.starts_with(same));
    let start = if present { before } else { line };
    Some(replaced(
        text,
        start..line,
        &format!("{}# {comment}\n", " ".repeat(indent)),
    ))
}

/// Removes a key of the mapping at a path, with its value and the comment in its line. `None` if it is not there, or if a comment of
/// another key would go with it.
pub fn without_key(source: &SourceText, path: &[Step<'_>], key: &str) -> Option<String> {
    let (text, root) = (&source.text, TextNode::of(source)?);
    let node = root.at(path)?;
    let index = node
        .children
        .iter()
        .position(|(step, _)| *step == WalkStep::Key(key.to_owned()))?;
    let (member, next) = (&node.children[index].1, node.children.get(index + 1));
    let line = start_of_line(text, member.key);
    let range = match (node.form, next) {
        (NodeForm::Flow, _) => node.range_in_flow(index),
        (NodeForm::Block { .. }, _) if text[line..member.key].trim().is_empty() => {
            line..after_line(text, member.range.end)
        }
        (NodeForm::Block { .. }, Some((_, next))) => member.key..next.key,
        (NodeForm::Block { .. }, None) | (NodeForm::Scalar | NodeForm::Other, _) => return None,
    };
    let in_line = member.range.end..member.range.end.max(end_of_line(text, member.range.end));
    let has_comment = text
        .get(in_line.end..range.end)
        .is_some_and(|rest| rest.contains('#'));
    (!has_comment).then(|| replaced(text, range, ""))
}

/// Removes an element of the list at a path, with its lines. `None` if it is not there, or shares a line with something else.
pub fn without_element(source: &SourceText, path: &[Step<'_>], index: usize) -> Option<String> {
    let (text, root) = (&source.text, TextNode::of(source)?);
    let list = root.at(path)?;
    let (_, element) = list.children.get(index)?;
    let range = match text[list.range.start..].starts_with('[') {
        true => list.range_in_flow(index),
        false => element.lines(text)?,
    };
    Some(replaced(text, range, ""))
}

/// Adds elements in JSON at the end of the list at a path. `None` if the list is empty, or has another form.
pub fn with_elements(
    source: &SourceText,
    path: &[Step<'_>],
    elements: &[String],
) -> Option<String> {
    let (text, root) = (&source.text, TextNode::of(source)?);
    let list = root.at(path)?;
    let (_, last) = list.children.last()?;
    if text[list.range.start..].starts_with('[') {
        let added: String = elements
            .iter()
            .map(|element| format!(", {element}"))
            .collect();
        return Some(replaced(text, last.range.end..last.range.end, &added));
    }
    let lines = last.lines(text)?;
    let own = &text[start_of_line(text, last.key)..last.key];
    let margin = " ".repeat(own.len() - own.trim_start_matches(' ').len());
    let inner = format!("\n{margin}  ");
    let added: String = elements
        .iter()
        .map(|element| format!("{margin}- {}\n", element.replace('\n', &inner)))
        .collect();
    let separator = if text[..lines.end].ends_with('\n') {
        ""
    } else {
        "\n"
    };
    Some(replaced(
        text,
        lines.end..lines.end,
        &format!("{separator}{added}"),
    ))
}

/// The lines of the elements of the list at a path, in bytes.
pub fn element_lines(source: &SourceText, path: &[Step<'_>]) -> Option<Vec<Range<usize>>> {
    let root = TextNode::of(source)?;
    let elements = root.at(path)?.children.iter();
    Some(
        elements
            .map(|(_, element)| start_of_line(&source.text, element.key)..element.range.end)
            .collect(),
    )
}

/// The entry of a mapping with the missing keys. An element of a list cannot be added.
fn entry(first: Step<'_>, after: &[Step<'_>], value: &str) -> Option<String> {
    let Step::Key(first) = first else { return None };
    let mut inside = value.to_owned();
    for step in after.iter().rev() {
        let Step::Key(key) = step else { return None };
        inside = format!("{{ {}: {inside} }}", plain_key(key)?);
    }
    Some(format!("{}: {inside}", plain_key(first)?))
}

/// A key that needs no quotes, or one in quotes, as a metric such as `recall[lease]` does.
fn plain_key(key: &str) -> Option<String> {
    let plain = |one: char| one.is_ascii_alphanumeric() || one == '_';
    let quoted = |one: char| !one.is_control() && one != '"' && one != '\\';
    match key {
        _ if !key.is_empty() && key.chars().all(plain) => Some(key.to_owned()),
        _ if key.chars().all(quoted) => Some(format!("\"{key}\"")),
        _ => None,
    }
}

fn replaced(text: &str, range: Range<usize>, with: &str) -> String {
    format!("{}{with}{}", &text[..range.start], &text[range.end..])
}

fn start_of_line(text: &str, from: usize) -> usize {
    text[..from].rfind('\n').map_or(0, |at| at + 1)
}

/// Where the line after a value starts. The value of a block ends with its line break.
fn after_line(text: &str, end: usize) -> usize {
    if text[..end].ends_with('\n') {
        end
    } else {
        (end_of_line(text, end) + 1).min(text.len())
    }
}

fn end_of_line(text: &str, from: usize) -> usize {
    text[from..].find('\n').map_or(text.len(), |at| from + at)
}

/// The end of a value. The parser takes the indentation of the next line into a value that is a block of lines.
fn without_indentation(text: &str, value: Range<usize>) -> usize {
    let line = start_of_line(text, value.end);
    if line > value.start && text[line..value.end].trim_matches(' ').is_empty() {
        line
    } else {
        value.end
    }
}

/// A node with its place in the text.
struct TextNode {
    /// Where its key starts, or the node itself if it has none.
    key: usize,
    /// The node in bytes; of a block without the blank lines and comments that follow.
    range: Range<usize>,
    form: NodeForm,
    children: Vec<(WalkStep, TextNode)>,
}

#[derive(Clone, Copy)]
enum NodeForm {
    Scalar,
    /// A mapping in braces.
    Flow,
    /// A mapping with a key a line, in this column from 0.
    Block {
        column: usize,
    },
    /// A list, an alias, or an empty value.
    Other,
}

impl TextNode {
    /// The first document of a text; `None` if it cannot be parsed.
    fn of(source: &SourceText) -> Option<Self> {
        let text = &source.text;
        let mut bytes: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
        bytes.push(text.len());
        let mut open: Vec<Self> = Vec::new();
        let mut keys: Vec<Option<(WalkStep, usize)>> = Vec::new();
        for event in Parser::new_from_str(text) {
            let (event, span) = event.ok()?;
            let (start, end) = (
                *bytes.get(span.start.index())?,
                *bytes.get(span.end.index())?,
            );
            let made = |form| Self {
                key: start,
                range: start..end,
                form,
                children: Vec::new(),
            };
            let done = match event {
                Event::MappingStart(..) => {
                    let form = match text[start..].starts_with('{') {
                        true => NodeForm::Flow,
                        false => NodeForm::Block {
                            column: span.start.col(),
                        },
                    };
                    open.push(made(form));
                    keys.push(None);
                    continue;
                }
                Event::SequenceStart(..) => {
                    open.push(made(NodeForm::Other));
                    keys.push(None);
                    continue;
                }
                Event::MappingEnd | Event::SequenceEnd => {
                    keys.pop();
                    let mut ended = open.pop()?;
                    // A block ends where its last value does; the event is reported at whatever follows.
                    let last = ended
                        .children
                        .last()
                        .map_or(start, |(_, child)| child.range.end);
                    let is_closed =
                        matches!(text.as_bytes().get(start), Some(b'}' | b']')) && end > start;
                    ended.range.end = if is_closed { end } else { last };
                    ended
                }
                Event::Scalar(ref value, ..) => {
                    let is_key = matches!(open.last(), Some(parent) if parent.is_mapping());
                    if let (true, Some(key @ None)) = (is_key, keys.last_mut()) {
                        *key = Some((WalkStep::Key(value.to_string()), start));
                        continue;
                    }
                    let form = if end > start {
                        NodeForm::Scalar
                    } else {
                        NodeForm::Other
                    };
                    Self {
                        range: start..without_indentation(text, start..end),
                        ..made(form)
                    }
                }
                Event::Alias(..) => made(NodeForm::Other),
                Event::Nothing
                | Event::StreamStart
                | Event::StreamEnd
                | Event::DocumentStart(..)
                | Event::DocumentEnd => continue,
            };
            let Some(parent) = open.last_mut() else {
                return Some(done);
            };
            let named = keys.last_mut().and_then(Option::take);
            let (step, key) = named.unwrap_or((WalkStep::At(parent.children.len()), done.key));
            parent.children.push((step, Self { key, ..done }));
        }
        None
    }

    fn at(&self, path: &[Step<'_>]) -> Option<&Self> {
        path.iter().try_fold(self, |node, step| node.child(*step))
    }

    /// A child in brackets or braces, with the comma that separates it from another one.
    fn range_in_flow(&self, index: usize) -> Range<usize> {
        let at = |index: usize| self.children.get(index).map(|(_, child)| child);
        let own = at(index).map_or(0..0, |child| child.key..child.range.end);
        match (index.checked_sub(1).and_then(at), at(index + 1)) {
            (_, Some(next)) => own.start..next.key,
            (Some(before), None) => before.range.end..own.end,
            (None, None) => own,
        }
    }

    /// The lines of an element with a hyphen of its own.
    fn lines(&self, text: &str) -> Option<Range<usize>> {
        let line = start_of_line(text, self.key);
        (text[line..self.key].trim() == "-").then(|| line..after_line(text, self.range.end))
    }

    fn is_mapping(&self) -> bool {
        matches!(self.form, NodeForm::Flow | NodeForm::Block { .. })
    }

    fn child(&self, step: Step<'_>) -> Option<&Self> {
        let step = WalkStep::of(step);
        self.children
            .iter()
            .find(|(one, _)| *one == step)
            .map(|(_, child)| child)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Step::{self, At, Key};
    use super::{with_comment, with_elements, with_value, without_element, without_key};
    use crate::files::SourceText;
    use crate::model::RepoPath;

    fn source(text: &str) -> SourceText {
        SourceText::from_text(RepoPath::root().child("a.yaml"), text.to_owned())
    }

    #[track_caller]
    fn sets(text: &str, path: &[Step<'_>], value: &str, expected: &str) {
        assert_eq!(
            with_value(&source(text), path, value).as_deref(),
            Some(expected)
        );
    }

    const DROP: [Step<'_>; 5] = [
        Key("suites"),
        At(0),
        Key("gates"),
        Key("f1"),
        Key("max_drop"),
    ];

    #[test]
    fn a_number_is_replaced_and_its_comment_stays() {
        sets(
            "suites:\n  - id: ä\n    gates:\n      f1: { max_drop: 0.05 } # why\n",
            &DROP,
            "0.19",
            "suites:\n  - id: ä\n    gates:\n      f1: { max_drop: 0.19 } # why\n",
        );
        sets(
            "suites:\n- id: a\n  gates:\n    f1:\n      max_drop: 0.05 # why\n# end\n",
            &DROP,
            "0.19",
            "suites:\n- id: a\n  gates:\n    f1:\n      max_drop: 0.19 # why\n# end\n",
        );
    }

    #[test]
    fn missing_keys_are_added_in_the_style_of_their_mapping() {
        sets(
            "suites:\n  - id: a\n    gates: { f1: { min: 1 } }\n",
            &DROP,
            "0.19",
            "suites:\n  - id: a\n    gates: { f1: { max_drop: 0.19, min: 1 } }\n",
        );
        sets(
            "suites:\n  - { id: a, gates: {} }\n",
            &DROP,
            "0.19",
            "suites:\n  - { id: a, gates: { f1: { max_drop: 0.19 } } }\n",
        );
        sets(
            "suites:\n  - id: a\n    gates:\n      recall:\n        min: 1 # all\n\n  # the other\n  - id: b\n",
            &DROP,
            "0.19",
            "suites:\n  - id: a\n    gates:\n      recall:\n        min: 1 # all\n      f1: { max_drop: 0.19 }\n\n  # the other\n  - id: b\n",
        );
        sets(
            "suites:\n  - id: a\n    kind: findings",
            &DROP,
            "0.19",
            "suites:\n  - id: a\n    kind: findings\n    gates: { f1: { max_drop: 0.19 } }",
        );
    }

    #[test]
    fn an_element_of_a_list_has_its_own_keys() {
        let path = [Key("f1"), At(1), Key("zone")];
        sets(
            "f1: [{ max_drop: 0.1 }, { min: 0.7 }]\n",
            &path,
            "0.07",
            "f1: [{ max_drop: 0.1 }, { zone: 0.07, min: 0.7 }]\n",
        );
        assert_eq!(
            with_value(&source("f1: [{ max_drop: 0.1 }]\n"), &path, "0.07"),
            None
        );
    }

    #[test]
    fn a_metric_of_a_group_is_quoted() {
        sets(
            "gates: {}\n",
            &[Key("gates"), Key("rate[a b]"), Key("min")],
            "1",
            "gates: { \"rate[a b]\": { min: 1 } }\n",
        );
    }

    #[test]
    fn what_has_another_form_stays() {
        let path = [Key("gates"), Key("f1")];
        for text in [
            "gates: *other\n",
            "gates: [1]\n",
            "gates:\n",
            "gates: none\n",
            "[",
            "",
        ] {
            assert_eq!(with_value(&source(text), &path, "1"), None, "{text:?}");
        }
        assert_eq!(with_value(&source("a: { b: 1 }\n"), &[Key("a")], "1"), None);
    }

    #[test]
    fn a_key_is_removed_with_its_line() {
        let case = [Key("cases"), At(1)];
        for (text, path, expected) in [
            (
                "# a\nid: x # b\ndraft: true # c\n# d\nquery: y\n",
                &[][..],
                Some("# a\nid: x # b\n# d\nquery: y\n"),
            ),
            ("id: x\ndraft: true", &[], Some("id: x\n")),
            ("draft: true\nid: x\n", &[], Some("id: x\n")),
            (
                "- id: y\n- draft: true\n  id: x # b\n",
                &[At(1)],
                Some("- id: y\n- id: x # b\n"),
            ),
            (
                "cases:\n  - {}\n  - {id: x, draft: true} # b\n",
                &case,
                Some("cases:\n  - {}\n  - {id: x} # b\n"),
            ),
            (
                "cases:\n  - {}\n  - {draft: true, id: x}\n",
                &case,
                Some("cases:\n  - {}\n  - {id: x}\n"),
            ),
            (
                "- draft: true # why\n  id: x\n",
                &[At(0)],
                Some("- id: x\n"),
            ),
            ("- draft: true\n  # of the id\n  id: x\n", &[At(0)], None),
            ("- draft: true\n", &[At(0)], None),
            ("id: x\n", &[], None),
        ] {
            assert_eq!(
                without_key(&source(text), path, "draft").as_deref(),
                expected,
                "{text:?}"
            );
        }
    }

    #[test]
    fn an_element_is_removed_with_its_lines() {
        for (text, path, index, expected) in [
            (
                "# a\n- id: x # b\n  c: |\n    d\n\n# e\n- id: y\n",
                &[][..],
                0,
                Some("# a\n# e\n- id: y\n"),
            ),
            ("- id: x\n- id: y\n  z: 1", &[], 1, Some("- id: x\n")),
            (
                "cases: [{id: x}, {id: y}]\n",
                &[Key("cases")],
                1,
                Some("cases: [{id: x}]\n"),
            ),
            (
                "cases:\n- {id: x}\n- {id: y}\n",
                &[Key("cases")],
                0,
                Some("cases:\n- {id: y}\n"),
            ),
            (
                "a:\n  - b: |\n      c\n  - d\n",
                &[Key("a")],
                0,
                Some("a:\n  - d\n"),
            ),
            ("- id: x\n", &[], 1, None),
        ] {
            assert_eq!(
                without_element(&source(text), path, index).as_deref(),
                expected,
                "{text:?}"
            );
        }
    }

    #[test]
    fn added_elements_follow_the_last_one() {
        let new = ["{\n  \"id\": \"z\"\n}".to_owned(), "{}".to_owned()];
        for (text, path, expected) in [
            (
                "- id: x\n  a: 1\n# end\n",
                &[][..],
                "- id: x\n  a: 1\n- {\n    \"id\": \"z\"\n  }\n- {}\n# end\n",
            ),
            (
                "cases:\n  - x",
                &[Key("cases")],
                "cases:\n  - x\n  - {\n      \"id\": \"z\"\n    }\n  - {}\n",
            ),
            ("[{id: x}]\n", &[], "[{id: x}, {\n  \"id\": \"z\"\n}, {}]\n"),
        ] {
            assert_eq!(
                with_elements(&source(text), path, &new).as_deref(),
                Some(expected),
                "{text:?}"
            );
        }
        assert_eq!(with_elements(&source("[]\n"), &[], &new), None);
    }

    #[test]
    fn a_comment_replaces_its_predecessor() {
        let path = [Key("suites"), At(0), Key("gates")];
        let text = "suites:\n  - id: a\n    gates: {}\n";
        let once = with_comment(&source(text), &path, "calibrated", "calibrated once").unwrap();
        assert_eq!(
            once,
            "suites:\n  - id: a\n    # calibrated once\n    gates: {}\n"
        );
        let twice = with_comment(&source(&once), &path, "calibrated", "calibrated twice").unwrap();
        assert_eq!(
            twice,
            "suites:\n  - id: a\n    # calibrated twice\n    gates: {}\n"
        );
        let other = with_comment(
            &source("# own words\ngates: {}\n"),
            &[Key("gates")],
            "calibrated",
            "calibrated once",
        );
        assert_eq!(
            other.as_deref(),
            Some("# own words\n# calibrated once\ngates: {}\n")
        );
    }
}
