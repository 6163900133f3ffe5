//! Edits the text of one case in its golden file and changes nothing else: order and formatting stay.

use std::ops::Range;

use serde_json::Value;
use serde_json::value::RawValue;

use crate::files::SourceText;
use crate::format::without_member;
use crate::model::CaseId;
use crate::suites::kind::GoldenForm;
use crate::suites::shared::entries::GoldenEntries;
use crate::suites::shared::meaning::DRAFT;

/// The part of a golden file that is one case.
pub struct CaseText<'a> {
    file: &'a str,
    /// The case in bytes.
    range: Range<usize>,
    /// The list that it is an element of, and its place there; `None` if the whole file is the case.
    element: Option<ListElement>,
}

struct ListElement {
    elements: Vec<Range<usize>>,
    index: usize,
}

impl<'a> CaseText<'a> {
    /// The part of a case; `None` if the file does not contain it.
    pub fn find(form: GoldenForm, source: &'a SourceText, case: &CaseId) -> Option<Self> {
        let file = source.text.as_str();
        let GoldenForm::Entries(_) = form else { return Some(Self { file, range: 0..file.len(), element: None }) };
        let value: Value = serde_json::from_str(file).ok()?;
        let own = GoldenEntries::of(form, &value).case(case)?;
        let list = value.as_array().or_else(|| value.get("cases")?.as_array())?;
        let index = list.iter().position(|one| std::ptr::eq(one, own))?;
        let elements = elements(file)?;
        let range = elements.get(index)?.clone();
        Some(Self { file, range, element: Some(ListElement { elements, index }) })
    }

    /// The text of the case.
    pub fn text(&self) -> &'a str {
        self.file.get(self.range.clone()).unwrap_or_default()
    }

    /// The line of the case in the file, from 1.
    pub fn line(&self) -> usize {
        1 + self.file.get(..self.range.start).unwrap_or_default().matches('\n').count()
    }

    /// The file's text with the case accepted: without its key `draft`. `None` if anything else would differ.
    pub fn accepted(&self) -> Option<String> {
        let text = self.replaced(self.range.clone(), &without_member(self.text(), DRAFT));
        let mut expected: Value = serde_json::from_str(self.text()).ok()?;
        expected.as_object_mut()?.remove(DRAFT)?;
        self.has(&text, |list, index| list[index] = expected.clone(), || expected.clone()).then_some(text)
    }

    /// The file's text without the case. `None` if the whole file is the case, or if anything else would differ.
    pub fn removed(&self) -> Option<String> {
        let ListElement { elements, index } = self.element.as_ref()?;
        let range = match (elements.get(index + 1), index.checked_sub(1).and_then(|before| elements.get(before))) {
            (Some(next), _) => self.range.start..next.start,
            (None, Some(before)) => before.end..self.range.end,
            (None, None) => self.range.clone(),
        };
        let text = self.replaced(range, "");
        let remove = |list: &mut Vec<Value>, index| drop(list.remove(index));
        self.has(&text, remove, || Value::Null).then_some(text)
    }

    /// Whether a text has the value of the file after an edit of the case.
    fn has(&self, text: &str, edit: impl Fn(&mut Vec<Value>, usize), whole: impl Fn() -> Value) -> bool {
        let parsed = |text: &str| serde_json::from_str::<Value>(text).ok();
        let (Some(mut old), Some(new)) = (parsed(self.file), parsed(text)) else { return false };
        match &self.element {
            None => new == whole(),
            Some(ListElement { index, .. }) => {
                let list = if old.is_array() { Some(&mut old) } else { old.get_mut("cases") };
                let Some(list) = list.and_then(Value::as_array_mut) else { return false };
                edit(list, *index);
                old == new
            }
        }
    }

    fn replaced(&self, range: Range<usize>, with: &str) -> String {
        let (before, after) = (self.file.get(..range.start), self.file.get(range.end..));
        format!("{}{with}{}", before.unwrap_or_default(), after.unwrap_or_default())
    }
}

/// The text of a file of cases with more cases at the end of its list; `cases` are indented JSON. `None` if anything else would differ.
pub fn with_cases(file: &str, cases: &[String]) -> Option<String> {
    let places = elements(file)?;
    let last = places.last()?;
    let line = file.get(..places.first()?.start)?.rsplit('\n').next()?;
    let margin = format!("\n{}", " ".repeat(line.len() - line.trim_start_matches(' ').len()));
    let indented: String = cases.iter().map(|case| format!(",{margin}{}", case.replace('\n', &margin))).collect();
    let text = format!("{}{indented}{}", file.get(..last.end)?, file.get(last.end..)?);
    let parsed = |text: &str| serde_json::from_str::<Value>(text).ok();
    let (mut expected, new) = (parsed(file)?, parsed(&text)?);
    let added: Vec<Value> = cases.iter().map(|case| parsed(case)).collect::<Option<_>>()?;
    let list = if expected.is_array() { &mut expected } else { expected.get_mut("cases")? };
    list.as_array_mut()?.extend(added);
    (expected == new).then_some(text)
}

/// Where the elements of the list are: that of the whole file, or that under `cases`.
fn elements(file: &str) -> Option<Vec<Range<usize>>> {
    #[derive(serde::Deserialize)]
    struct CasesMember<'t> {
        #[serde(borrow)]
        cases: Vec<&'t RawValue>,
    }
    let list = serde_json::from_str::<Vec<&RawValue>>(file)
        .or_else(|_| serde_json::from_str::<CasesMember<'_>>(file).map(|file| file.cases))
        .ok()?;
    let place = |raw: &RawValue| {
        let start = (raw.get().as_ptr() as usize).saturating_sub(file.as_ptr() as usize);
        start..start + raw.get().len()
    };
    Some(list.into_iter().map(place).collect())
}

#[cfg(test)]
mod tests {
    use super::{CaseText, with_cases};
    use crate::files::SourceText;
    use crate::model::{CaseId, RepoPath};
    use crate::suites::kind;

    const FILE: &str = "{ \"cases\": [\n  {\"id\": \"a\",   \"draft\": true, \"query\" : \"draft\"},\n\n  { \"id\":\"b\",\n    \"draft\": true },\n  {\"draft\":true,\"id\":\"c\"}\n] , \"x\": [1,  2]}\n";

    fn edited(kind_name: &str, text: &str, case: &str, edit: fn(&CaseText<'_>) -> Option<String>) -> Option<String> {
        let source = SourceText::from_text(RepoPath::root().child("cases.json"), text.to_owned());
        let form = kind(kind_name).unwrap().golden;
        edit(&CaseText::find(form, &source, &CaseId::new(case).unwrap())?)
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
            ("a", "{\"id\": \"a\",   \"draft\": true, \"query\" : \"draft\"},\n\n  { \"id\":\"b\"", "{ \"id\":\"b\""),
            ("c", ",\n  {\"draft\":true,\"id\":\"c\"}", ""),
        ] {
            assert_eq!(
                edited("tool_use", FILE, case, |case| case.removed()).unwrap(),
                FILE.replacen(from, to, 1),
                "{case}"
            );
        }
        assert_eq!(edited("tool_use", "[ {\"id\": \"a\"} ]", "a", |case| case.removed()).unwrap(), "[  ]");
        assert_eq!(edited("findings", "{}", "a", |case| case.removed()), None, "the file itself is removed");
    }

    #[test]
    fn added_cases_follow_the_last_one() {
        let new = ["{\n  \"id\": \"d\"\n}", "{}"].map(str::to_owned);
        let end = "\"id\":\"c\"}";
        let expected = FILE.replacen(end, &format!("{end},\n  {{\n    \"id\": \"d\"\n  }},\n  {{}}"), 1);
        assert_eq!(with_cases(FILE, &new).unwrap(), expected);
        assert_eq!(with_cases("[]", &new), None, "a suite without a case is refused anyway");
        assert_eq!(with_cases(FILE, &["{".to_owned()]), None, "no JSON");
    }

    #[test]
    fn only_a_draft_in_the_file_is_edited() {
        assert_eq!(edited("tool_use", "[{\"id\": \"a\"}]", "a", |case| case.accepted()), None);
        assert_eq!(edited("tool_use", FILE, "d", |case| case.accepted()), None);
    }
}
