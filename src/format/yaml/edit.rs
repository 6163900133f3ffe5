//! Adds and removes parts of the text of a YAML file and changes nothing else: comments, order and style stay.

use std::ops::Range;

use saphyr_parser::{Event, Parser};

use crate::files::SourceText;
use crate::format::Step;

/// Removes a key of the mapping at a path, with its value and the comment in its line. `None` if it is not there, or if a comment of
/// another key would go with it.
pub fn without_key(source: &SourceText, path: &[Step<'_>], key: &str) -> Option<String> {
    let (text, root) = (&source.text, TextNode::of(source)?);
    let node = root.at(path)?;
    let index = node
        .children
        .iter()
        .position(|child| child.name.as_deref() == Some(key))?;
    let (member, next) = (&node.children[index], node.children.get(index + 1));
    let line = start_of_line(text, member.key);
    let range = match (node.form, next) {
        (NodeForm::Flow, _) => node.range_in_flow(index),
        (NodeForm::Block, _) if text[line..member.key].trim().is_empty() => {
            line..after_line(text, member.range.end)
        }
        (NodeForm::Block, Some(next)) => member.key..next.key,
        (NodeForm::Block, None) | (NodeForm::Scalar | NodeForm::Other, _) => return None,
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
    let element = list.children.get(index)?;
    let range = if text[list.range.start..].starts_with('[') {
        list.range_in_flow(index)
    } else {
        element.lines(text)?
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
    let last = list.children.last()?;
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
            .map(|element| start_of_line(&source.text, element.key)..element.range.end)
            .collect(),
    )
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
    /// Its key; an element of a list has none.
    name: Option<String>,
    /// Where its key starts, or the node itself if it has none.
    key: usize,
    /// The node in bytes; of a block without the blank lines and comments that follow.
    range: Range<usize>,
    form: NodeForm,
    children: Vec<TextNode>,
}

#[derive(Clone, Copy)]
enum NodeForm {
    Scalar,
    /// A mapping in braces.
    Flow,
    /// A mapping with a key a line.
    Block,
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
        let mut keys: Vec<Option<(String, usize)>> = Vec::new();
        for event in Parser::new_from_str(text) {
            let (event, span) = event.ok()?;
            let (start, end) = (
                *bytes.get(span.start.index())?,
                *bytes.get(span.end.index())?,
            );
            let made = |form| Self {
                name: None,
                key: start,
                range: start..end,
                form,
                children: Vec::new(),
            };
            let done = match event {
                Event::MappingStart(..) => {
                    let form = if text[start..].starts_with('{') {
                        NodeForm::Flow
                    } else {
                        NodeForm::Block
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
                    let last = ended.children.last().map_or(start, |child| child.range.end);
                    let is_closed =
                        matches!(text.as_bytes().get(start), Some(b'}' | b']')) && end > start;
                    ended.range.end = if is_closed { end } else { last };
                    ended
                }
                Event::Scalar(ref value, ..) => {
                    let is_key = matches!(open.last(), Some(parent) if parent.is_mapping());
                    if let (true, Some(key @ None)) = (is_key, keys.last_mut()) {
                        *key = Some((value.to_string(), start));
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
            let (name, key) = keys.last_mut().and_then(Option::take).unzip();
            let key = key.unwrap_or(done.key);
            parent.children.push(Self { name, key, ..done });
        }
        None
    }

    fn at(&self, path: &[Step<'_>]) -> Option<&Self> {
        path.iter().try_fold(self, |node, step| node.child(*step))
    }

    /// A child in brackets or braces, with the comma that separates it from another one.
    fn range_in_flow(&self, index: usize) -> Range<usize> {
        let Some(child) = self.children.get(index) else {
            return 0..0;
        };
        if let Some(next) = self.children.get(index + 1) {
            return child.key..next.key;
        }
        let start = match index.checked_sub(1) {
            Some(previous) => self.children[previous].range.end,
            None => child.key,
        };
        start..child.range.end
    }

    /// The lines of an element with a hyphen of its own.
    fn lines(&self, text: &str) -> Option<Range<usize>> {
        let line = start_of_line(text, self.key);
        (text[line..self.key].trim() == "-").then(|| line..after_line(text, self.range.end))
    }

    fn is_mapping(&self) -> bool {
        matches!(self.form, NodeForm::Flow | NodeForm::Block)
    }

    fn child(&self, step: Step<'_>) -> Option<&Self> {
        match step {
            Step::Key(key) => self
                .children
                .iter()
                .find(|child| child.name.as_deref() == Some(key)),
            Step::At(index) => self.children.get(index),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{with_elements, without_element, without_key};
    use crate::files::SourceText;
    use crate::format::Step::{At, Key};
    use crate::model::RepoPath;

    fn source(text: &str) -> SourceText {
        SourceText::from_text(RepoPath::root().child("a.yaml"), text.to_owned())
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
}
