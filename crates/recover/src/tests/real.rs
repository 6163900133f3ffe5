//! The 240 answers of a real, small model.

use serde_json::Value;

use super::{ATOMS, Anchor, FINDINGS, Recovered, RecoveryLayer, recover};

const ANSWERS: &str = include_str!("../testdata/real-model-outputs.jsonl");

/// What Python's `json` reads from the answers that contain a complete object with the list, in a fence or bare.
const PYTHON: &str = include_str!("python.jsonl");

const RISKS: Anchor<'static> = Anchor {
    list: "risks",
    field: "category",
};
const FILES: Anchor<'static> = Anchor {
    list: "files_inspected",
    field: "file",
};

struct RealAnswer {
    id: String,
    text: String,
    anchor: Anchor<'static>,
}

fn answers() -> Vec<RealAnswer> {
    ANSWERS.lines().map(answer).collect()
}

fn answer(line: &str) -> RealAnswer {
    let record = parsed(line);
    let field = |key: &str| record[key].as_str().expect("a text").to_owned();
    let anchor = match field("prompt").split_whitespace().next() {
        Some("You") => FINDINGS,
        Some("Extract") => ATOMS,
        Some("List") => RISKS,
        _ => FILES,
    };
    RealAnswer {
        id: field("id"),
        text: field("text"),
        anchor,
    }
}

fn parsed(line: &str) -> Value {
    serde_json::from_str(line).expect("a line of the fixture is JSON")
}

fn read(answer: &RealAnswer) -> Option<Recovered> {
    recover(&answer.text, &answer.anchor)
}

/// The layers of the answers of one kind.
#[derive(Debug, Default, PartialEq)]
struct LayerCounts {
    strict: usize,
    repaired: usize,
    salvaged: usize,
    unread: usize,
    /// Number of objects in the lists.
    kept: usize,
    /// Number of lost objects.
    lost: usize,
}

fn counts(answers: &[RealAnswer], key: &str) -> LayerCounts {
    let mut counts = LayerCounts::default();
    for answer in answers.iter().filter(|answer| answer.anchor.list == key) {
        let Some(Recovered { value, layer, lost }) = read(answer) else {
            counts.unread += 1;
            continue;
        };
        match layer {
            RecoveryLayer::Strict => counts.strict += 1,
            RecoveryLayer::Repaired => counts.repaired += 1,
            RecoveryLayer::Salvaged => counts.salvaged += 1,
        }
        counts.kept += value[key].as_array().map_or(0, Vec::len);
        counts.lost += lost;
    }
    counts
}

#[test]
fn the_layers_of_the_real_answers_are_known() {
    let answers = answers();
    assert_eq!(answers.len(), 240);
    assert_eq!(
        counts(&answers, "findings"),
        LayerCounts {
            strict: 3,
            repaired: 5,
            salvaged: 1,
            unread: 48,
            kept: 12,
            lost: 1
        }
    );
    assert_eq!(
        counts(&answers, "atoms"),
        LayerCounts {
            strict: 11,
            repaired: 18,
            salvaged: 10,
            unread: 23,
            kept: 65,
            lost: 9
        }
    );
    assert_eq!(
        counts(&answers, "risks"),
        LayerCounts {
            strict: 10,
            repaired: 20,
            salvaged: 12,
            unread: 25,
            kept: 52,
            lost: 4
        }
    );
    assert_eq!(
        counts(&answers, "files_inspected"),
        LayerCounts {
            strict: 0,
            repaired: 2,
            salvaged: 0,
            unread: 52,
            kept: 4,
            lost: 0
        }
    );
}

#[test]
fn a_complete_object_with_the_list_is_read_as_python_reads_it() {
    let answers = answers();
    let mut objects = 0;
    for line in PYTHON.lines() {
        let expected = parsed(line);
        let answer = answers
            .iter()
            .find(|answer| expected["id"] == answer.id)
            .expect("an answer of this id");
        let found = read(answer).expect("a complete object is found");
        assert_eq!(found.layer, RecoveryLayer::Strict, "{}", answer.id);
        assert_eq!(found.value, expected["value"], "{}", answer.id);
        objects += 1;
    }
    assert!(objects > 0);
}

#[test]
fn an_answer_without_brackets_yields_nothing() {
    for answer in answers()
        .iter()
        .filter(|answer| !answer.text.contains(['{', '[']))
    {
        assert_eq!(read(answer), None, "{}", answer.id);
    }
}

#[test]
fn every_prefix_of_a_real_answer_can_be_read() {
    for answer in answers().iter().step_by(6) {
        for (end, _) in answer.text.char_indices().step_by(7) {
            let _ = recover(&answer.text[..end], &answer.anchor);
        }
    }
}
