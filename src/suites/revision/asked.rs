//! What a reviser and a critic are asked: the documents as their RTF source, and the instructions.

use serde_json::Map;
use serde_json::Value;
use serde_json::json;

use super::fault::Criterion;
use crate::diag::Diagnostic;
use crate::format::json;
use crate::model::AnswerForm;
use crate::model::Ask;
use crate::model::RepoPath;
use crate::model::Role;
use crate::model::Scoring;
use crate::model::Toolbox;
use crate::suites::Shelf;
use crate::suites::asking::Prompt;
use crate::suites::asking::list;
use crate::suites::asking::number;
use crate::suites::asking::object;
use crate::suites::asking::one_of;
use crate::suites::asking::text;
use crate::suites::asking::whole;
use crate::suites::asking::yes_or_no;

/// What of the instructions is for the grading alone.
const OF_THE_GRADING: [&str; 3] = ["allowed_changes", "rule", "quarantine"];

/// Asks about the case of a golden file.
///
/// # Errors
/// A file of the case that cannot be read.
pub fn ask(golden: &RepoPath, role: Role, scoring: &Scoring, shelf: &dyn Shelf) -> Result<Ask, Diagnostic> {
    let mut instructions: Map<String, Value> = json::golden(&shelf.text(golden)?)?;
    instructions.retain(|key, _| !OF_THE_GRADING.contains(&key.as_str()));
    let instructions = Value::Object(instructions);
    let document = |name: &str| {
        let file = golden.parent().child(name);
        shelf.bytes(&file).map(|bytes| (file, source(&bytes)))
    };
    let (file, original) = document("original.rtf")?;
    let told = format!("The instructions, as JSON:\n{instructions:#}");
    let mut inputs = json!({"file": file.to_string(), "original": original, "instructions": instructions});
    let (prompt, form) = match role {
        Role::Actor => (revise().say(&told).show(&[("The contract, as RTF source", &original)]), revision()),
        Role::Critic => {
            let (_, revised) = document("revised.rtf")?;
            let shown =
                [("The original, as RTF source", &*original), ("The revised contract, as RTF source", &*revised)];
            let prompt = judge(scoring).say(&told).show(&shown);
            inputs["revised"] = json!(revised);
            (prompt, evaluation())
        }
    };
    Ok(Ask { prompt: prompt.text(), inputs, answer: Some(form), tools: Toolbox::Empty })
}

fn revise() -> Prompt {
    Prompt::of("Revise a contract as instructed. The contract is the source of an RTF document.")
        .say(
            "Give the whole source of the revised document back. Replace every name everywhere, also in headers, footers and \
             tables; renumber and mend cross-references where clauses come or go; leave everything else as it is, the format \
             too.",
        )
        .say("Answer with one JSON object: {\"document\": \"…\"}, with the RTF source as a JSON text.")
}

fn revision() -> AnswerForm {
    AnswerForm { name: "revision", schema: object([("document", text())]) }
}

fn judge(scoring: &Scoring) -> Prompt {
    let Scoring { weights, penalties, quality_gate, .. } = scoring;
    let weighed: Vec<String> = Criterion::ALL
        .iter()
        .zip(weights)
        .map(|(criterion, weight)| format!("{} {weight}", criterion.word()))
        .collect();
    Prompt::of("Judge whether a contract was revised as instructed. Both documents are the source of RTF documents.")
        .say(&format!(
            "Score five criteria from 0 to 1; overall_score is their weighted sum ({}), less the deductions: {} once for broken \
             cross-references, {} for each old name that is left, {} once for an indemnity that goes the wrong way, {} for each \
             orphaned clause or definition, {} once for a damaged format. satisfied is true from {quality_gate} on, unless a \
             failure is critical.",
            weighed.join(", "),
            penalties.broken_reference,
            penalties.missing_entity,
            penalties.liability_direction,
            penalties.orphan,
            penalties.rtf_corruption,
        ))
        .say(
            "Answer with one JSON object: {\"overall_score\", \"criteria_scores\": {one number for each criterion}, \"satisfied\", \
             \"unmet_criteria\": [], \"feedback\", \"attempt_number\": 1, \"revision_suggestions\": [{\"reason\", \
             \"target_section\", \"action\", \"instruction\", \"text_to_insert\", \"constraints\": []}], \"red_flags\": []}.",
        )
}

fn evaluation() -> AnswerForm {
    let words = Criterion::ALL.map(Criterion::word);
    let suggestion = object([
        ("reason", text()),
        ("target_section", text()),
        ("action", one_of(["add", "delete", "replace", "edit"])),
        ("instruction", text()),
        ("text_to_insert", text()),
        ("constraints", list(&text())),
    ]);
    let schema = object([
        ("overall_score", number()),
        ("criteria_scores", object(words.map(|word| (word, number())))),
        ("satisfied", yes_or_no()),
        ("unmet_criteria", list(&one_of(words))),
        ("feedback", text()),
        ("attempt_number", whole()),
        ("revision_suggestions", list(&suggestion)),
        ("red_flags", list(&text())),
    ]);
    AnswerForm { name: "evaluation", schema }
}

/// An RTF document's source as a text. A byte that is no UTF-8 becomes the escape that RTF has for it.
fn source(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => bytes.iter().fold(String::with_capacity(bytes.len()), |mut text, byte| {
            if byte.is_ascii() {
                text.push(char::from(*byte));
            } else {
                text.push_str(&format!("\\'{byte:02x}"));
            }
            text
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::source;
    use crate::suites::revision::draft::Draft;

    #[test]
    fn a_document_in_an_old_code_page_is_the_same_as_a_text() {
        let old = b"{\\rtf1\\ansi\\ansicpg1252 The \x93Lessee\x94 pays 5\xa0\x80.\\par}";
        let text = source(old);
        assert_eq!(text, "{\\rtf1\\ansi\\ansicpg1252 The \\'93Lessee\\'94 pays 5\\'a0\\'80.\\par}");
        for read in [Draft::read(old), Draft::read(text.as_bytes())] {
            let lines: Vec<&str> = read.lines.iter().map(|line| line.text.as_str()).collect();
            assert_eq!(lines, ["The \u{201c}Lessee\u{201d} pays 5\u{a0}\u{20ac}."]);
        }
        assert_eq!(source("{\\rtf1 é}".as_bytes()), "{\\rtf1 é}");
    }
}
