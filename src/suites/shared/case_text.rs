//! Edits the text of one case in its golden file and changes nothing else: comments, order and formatting stay.

use std::ops::Range;

use serde_json::Value;
use serde_json::value::RawValue;

use crate::files::SourceText;
use crate::format::csv::case_rows;
use crate::format::yaml::edit;
use crate::format::{GoldenFormat, Step, golden_json, golden_value, without_member};
use crate::model::{AgentName, CaseId};
use crate::suites::kind::GoldenForm;
use crate::suites::shared::case_keys::DRAFT;
use crate::suites::shared::entries::{GoldenEntries, listed_cases};

/// The part of a golden file that is one case.
pub struct CaseText<'a> {
    source: &'a SourceText,
    format: GoldenFormat,
    /// The case in bytes.
    range: Range<usize>,
    /// The list that it is an element of, and its place there; `None` if the whole file is the case.
    element: Option<ListElement>,
}

struct ListElement {
    elements: Vec<Range<usize>>,
    index: usize,
    list: ListPlace,
}

/// Where the list of a file with several cases is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ListPlace {
    /// The file is the list.
    Whole,
    /// Under the key `cases`.
    UnderKey,
}

impl ListPlace {
    fn of(file: &Value) -> Self {
        if file.is_array() {
            Self::Whole
        } else {
            Self::UnderKey
        }
    }

    fn path(self) -> &'static [Step<'static>] {
        match self {
            Self::Whole => &[],
            Self::UnderKey => &[Step::Key("cases")],
        }
    }

    fn list(self, file: &mut Value) -> Option<&mut Vec<Value>> {
        match self {
            Self::Whole => file.as_array_mut(),
            Self::UnderKey => file.get_mut("cases")?.as_array_mut(),
        }
    }
}

impl<'a> CaseText<'a> {
    /// The part of a case; `None` if the file does not contain it.
    pub fn find(
        form: GoldenForm,
        source: &'a SourceText,
        case: &CaseId,
        agent: &AgentName,
    ) -> Option<Self> {
        let format = GoldenFormat::of(source);
        let whole = Self {
            source,
            format,
            range: 0..source.text.len(),
            element: None,
        };
        let Some(value) = golden_value(source.clone()) else {
            return matches!(form, GoldenForm::OneCase | GoldenForm::OneCaseOfAgent)
                .then_some(whole);
        };
        let list = match (form, listed_cases(&value)) {
            (_, Some(list)) => list,
            (GoldenForm::Entries(_), None) => value.get("cases")?.as_array()?,
            (GoldenForm::OneCase | GoldenForm::OneCaseOfAgent, None) => return Some(whole),
        };
        let entry = GoldenEntries::of(form, &value).case(case, agent)?;
        let index = list
            .iter()
            .position(|element| std::ptr::eq(element, entry))?;
        let list = ListPlace::of(&value);
        let elements = elements(source, list)?;
        let range = elements.get(index)?.clone();
        Some(Self {
            source,
            format,
            range,
            element: Some(ListElement {
                elements,
                index,
                list,
            }),
        })
    }

    pub fn is_file(&self) -> bool {
        self.element.is_none()
    }

    pub fn text(&self) -> &'a str {
        self.source.text.get(self.range.clone()).unwrap_or_default()
    }

    /// The line of the case in the file, from 1.
    pub fn line(&self) -> usize {
        1 + self
            .source
            .text
            .get(..self.range.start)
            .unwrap_or_default()
            .matches('\n')
            .count()
    }

    /// The file's text with the case accepted: without its key `draft`. `None` if anything else would differ.
    pub fn accepted(&self) -> Option<String> {
        let text = match self.format {
            GoldenFormat::Json | GoldenFormat::JsonLines => {
                self.replaced(self.range.clone(), &without_member(self.text(), DRAFT))
            }
            GoldenFormat::Yaml => {
                let element = self.element.as_ref();
                let mut path = element.map_or(Vec::new(), |element| element.list.path().to_vec());
                path.extend(element.map(|element| Step::At(element.index)));
                edit::without_key(self.source, &path, DRAFT)?
            }
            GoldenFormat::Csv => return None,
        };
        let mut expected = golden_value(self.source.clone())?;
        let case = match &self.element {
            None => &mut expected,
            Some(ListElement { index, list, .. }) => list.list(&mut expected)?.get_mut(*index)?,
        };
        let is_draft = case
            .as_object_mut()
            .and_then(|fields| fields.remove(DRAFT))
            .is_some();
        (is_draft && self.value(&text)? == expected).then_some(text)
    }

    /// The file's text without the case. `None` if the whole file is the case, or if anything else would differ.
    pub fn removed(&self) -> Option<String> {
        let ListElement {
            elements,
            index,
            list,
        } = self.element.as_ref()?;
        let text = match self.format {
            GoldenFormat::Json => {
                let previous = index
                    .checked_sub(1)
                    .and_then(|previous| elements.get(previous));
                let range = match (elements.get(index + 1), previous) {
                    (Some(next), _) => self.range.start..next.start,
                    (None, Some(previous)) => previous.end..self.range.end,
                    (None, None) => self.range.clone(),
                };
                self.replaced(range, "")
            }
            GoldenFormat::JsonLines => {
                let (before, after) = (
                    self.source.text.get(..self.range.start)?,
                    self.source.text.get(self.range.end..)?,
                );
                let start = before.rfind('\n').map_or(0, |at| at + 1);
                let end = after.find('\n').map_or(after.len(), |at| at + 1);
                self.replaced(start..self.range.end + end, "")
            }
            GoldenFormat::Yaml => edit::without_element(self.source, list.path(), *index)?,
            GoldenFormat::Csv => return None,
        };
        let mut expected = golden_value(self.source.clone())?;
        list.list(&mut expected)?.remove(*index);
        (self.value(&text)? == expected).then_some(text)
    }

    /// The value of another text of the file.
    fn value(&self, text: &str) -> Option<Value> {
        golden_value(SourceText::from_text(
            self.source.file.clone(),
            text.to_owned(),
        ))
    }

    fn replaced(&self, range: Range<usize>, with: &str) -> String {
        let (before, after) = (
            self.source.text.get(..range.start),
            self.source.text.get(range.end..),
        );
        format!(
            "{}{with}{}",
            before.unwrap_or_default(),
            after.unwrap_or_default()
        )
    }
}

/// The text of a file of cases with more cases at the end of its list; `cases` are indented JSON. `None` if anything else would differ.
pub fn with_cases(source: &SourceText, cases: &[String]) -> Option<String> {
    let mut expected = golden_value(source.clone())?;
    let list = ListPlace::of(&expected);
    let text = match GoldenFormat::of(source) {
        GoldenFormat::Json => with_json_cases(&source.text, &elements(source, list)?, cases)?,
        GoldenFormat::JsonLines => {
            let break_before = if source.text.is_empty() || source.text.ends_with('\n') {
                ""
            } else {
                "\n"
            };
            let mut text = format!("{}{break_before}", source.text);
            for case in cases {
                // No text of JSON contains a line break.
                let lines: Vec<&str> = case.lines().map(str::trim_start).collect();
                text.push_str(&lines.join(" "));
                text.push('\n');
            }
            text
        }
        GoldenFormat::Yaml => edit::with_elements(source, list.path(), cases)?,
        GoldenFormat::Csv => return None,
    };
    let added: Vec<Value> = cases
        .iter()
        .map(|case| serde_json::from_str(case).ok())
        .collect::<Option<_>>()?;
    list.list(&mut expected)?.extend(added);
    let new = golden_value(SourceText::from_text(source.file.clone(), text.clone()))?;
    (expected == new).then_some(text)
}

fn with_json_cases(file: &str, places: &[Range<usize>], cases: &[String]) -> Option<String> {
    let last = places.last()?;
    let line = file.get(..places.first()?.start)?.rsplit('\n').next()?;
    let margin = format!(
        "\n{}",
        " ".repeat(line.len() - line.trim_start_matches(' ').len())
    );
    let indented: String = cases
        .iter()
        .map(|case| format!(",{margin}{}", case.replace('\n', &margin)))
        .collect();
    Some(format!(
        "{}{indented}{}",
        file.get(..last.end)?,
        file.get(last.end..)?
    ))
}

/// Where the elements of the list are in the file.
fn elements(source: &SourceText, list: ListPlace) -> Option<Vec<Range<usize>>> {
    #[derive(serde::Deserialize)]
    struct CasesMember<'t> {
        #[serde(borrow)]
        cases: Vec<&'t RawValue>,
    }
    let format = GoldenFormat::of(source);
    match format {
        GoldenFormat::Yaml => return edit::element_lines(source, list.path()),
        GoldenFormat::Csv => return case_rows(source),
        GoldenFormat::Json | GoldenFormat::JsonLines => {}
    }
    let json = golden_json(source.clone()).ok()?;
    let raws: Vec<&RawValue> = match list {
        ListPlace::Whole => serde_json::from_str(&json.text).ok()?,
        ListPlace::UnderKey => {
            serde_json::from_str::<CasesMember<'_>>(&json.text)
                .ok()?
                .cases
        }
    };
    // The list of lines has a bracket before them.
    let bracket = usize::from(format == GoldenFormat::JsonLines);
    let mut ranges = Vec::new();
    for raw in raws {
        let start =
            (raw.get().as_ptr() as usize).saturating_sub(json.text.as_ptr() as usize + bracket);
        ranges.push(start..start + raw.get().len());
    }
    Some(ranges)
}

#[cfg(test)]
mod tests {
    use super::{CaseText, with_cases};
    use crate::files::SourceText;
    use crate::model::{AgentName, CaseId, RepoPath};
    use crate::suites::kind;

    const FILE: &str = "{ \"cases\": [\n  {\"id\": \"a\",   \"draft\": true, \"query\" : \"draft\"},\n\n  { \"id\":\"b\",\n    \"draft\": true },\n  {\"draft\":true,\"id\":\"c\"}\n] , \"x\": [1,  2]}\n";

    fn edited(
        kind_name: &str,
        text: &str,
        case: &str,
        edit: fn(&CaseText<'_>) -> Option<String>,
    ) -> Option<String> {
        let source = SourceText::from_text(RepoPath::root().child("cases.json"), text.to_owned());
        let form = kind(kind_name).unwrap().golden;
        edit(&CaseText::find(
            form,
            &source,
            &CaseId::new(case).unwrap(),
            &AgentName::new("a").unwrap(),
        )?)
    }

    #[test]
    fn an_accepted_case_loses_its_mark_and_nothing_else() {
        for (case, from, to) in [
            ("a", "\"draft\": true, \"query\"", "\"query\""),
            ("b", "\"b\",\n    \"draft\": true }", "\"b\" }"),
            ("c", "{\"draft\":true,\"id\"", "{\"id\""),
        ] {
            assert_eq!(
                edited("tool_use", FILE, case, |case| case.accepted()).unwrap(),
                FILE.replacen(from, to, 1),
                "{case}"
            );
        }
        let one = "{\n  \"draft\": true,\n  \"expected_findings\": []\n}\n";
        assert_eq!(
            edited("findings", one, "any", |case| case.accepted()).unwrap(),
            "{\n  \"expected_findings\": []\n}\n"
        );
    }

    #[test]
    fn a_removed_case_takes_its_comma_with_it() {
        for (case, from, to) in [
            (
                "a",
                "{\"id\": \"a\",   \"draft\": true, \"query\" : \"draft\"},\n\n  { \"id\":\"b\"",
                "{ \"id\":\"b\"",
            ),
            ("c", ",\n  {\"draft\":true,\"id\":\"c\"}", ""),
        ] {
            assert_eq!(
                edited("tool_use", FILE, case, |case| case.removed()).unwrap(),
                FILE.replacen(from, to, 1),
                "{case}"
            );
        }
        assert_eq!(
            edited("tool_use", "[ {\"id\": \"a\"} ]", "a", |case| case
                .removed())
            .unwrap(),
            "[  ]"
        );
        assert_eq!(
            edited("findings", "{}", "a", |case| case.removed()),
            None,
            "the file itself is removed"
        );
    }

    #[test]
    fn added_cases_follow_the_last_one() {
        let new = ["{\n  \"id\": \"d\"\n}", "{}"].map(str::to_owned);
        let end = "\"id\":\"c\"}";
        let expected = FILE.replacen(
            end,
            &format!("{end},\n  {{\n    \"id\": \"d\"\n  }},\n  {{}}"),
            1,
        );
        let added = |name: &str, text: &str, new: &[String]| {
            with_cases(
                &SourceText::from_text(RepoPath::root().child(name), text.to_owned()),
                new,
            )
        };
        assert_eq!(added("cases.json", FILE, &new).unwrap(), expected);
        assert_eq!(
            added("cases.json", "[]", &new),
            None,
            "a suite without a case is refused anyway"
        );
        assert_eq!(
            added("cases.json", FILE, &["{".to_owned()]),
            None,
            "no JSON"
        );
        let lines = "{\"id\": \"a\"}\n{ \"id\": \"d\" }\n{}\n";
        assert_eq!(
            added("cases.jsonl", "{\"id\": \"a\"}", &new).as_deref(),
            Some(lines)
        );
        let yaml = "# ours\n- id: a\n- {\n    \"id\": \"d\"\n  }\n- {}\n";
        assert_eq!(
            added("cases.yaml", "# ours\n- id: a\n", &new).as_deref(),
            Some(yaml)
        );
    }

    #[test]
    fn a_case_in_another_format_is_edited_in_place() {
        let edited = |name: &str, text: &str, edit: fn(&CaseText<'_>) -> Option<String>| {
            let source = SourceText::from_text(RepoPath::root().child(name), text.to_owned());
            let (form, case) = (kind("tool_use").unwrap().golden, CaseId::new("b").unwrap());
            let found = CaseText::find(form, &source, &case, &AgentName::new("a").unwrap())?;
            Some((found.line(), edit(&found)))
        };
        let lines = "{\"id\": \"a\"}\n\n {\"id\": \"b\", \"draft\": true}\n{\"id\": \"c\"}\n";
        let expected = "{\"id\": \"a\"}\n\n {\"id\": \"b\"}\n{\"id\": \"c\"}\n";
        assert_eq!(
            edited("x.jsonl", lines, |case| case.accepted()),
            Some((3, Some(expected.to_owned())))
        );
        let expected = "{\"id\": \"a\"}\n\n{\"id\": \"c\"}\n";
        assert_eq!(
            edited("x.jsonl", lines, |case| case.removed()),
            Some((3, Some(expected.to_owned())))
        );
        let yaml = "cases:\n  - id: a # one\n  # two\n  - id: b\n    draft: true\n    query: |\n      q\n  - id: c\n";
        let expected =
            "cases:\n  - id: a # one\n  # two\n  - id: b\n    query: |\n      q\n  - id: c\n";
        assert_eq!(
            edited("x.yaml", yaml, |case| case.accepted()),
            Some((4, Some(expected.to_owned())))
        );
        let expected = "cases:\n  - id: a # one\n  # two\n  - id: c\n";
        assert_eq!(
            edited("x.yml", yaml, |case| case.removed()),
            Some((4, Some(expected.to_owned())))
        );
    }

    #[test]
    fn only_a_draft_in_the_file_is_edited() {
        assert_eq!(
            edited("tool_use", "[{\"id\": \"a\"}]", "a", |case| case.accepted()),
            None
        );
        assert_eq!(edited("tool_use", FILE, "d", |case| case.accepted()), None);
    }
}
