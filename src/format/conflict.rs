//! The conflict markers that git leaves in a file that it cannot merge.

/// What to say about it.
pub struct ConflictProblem {
    pub what: &'static str,
    pub help: &'static str,
}

/// The byte offset of the first conflict in a text, and what to say; `None` if it has none.
pub fn conflict(text: &str) -> Option<(usize, ConflictProblem)> {
    let mut at = 0;
    let begins = text.split_inclusive('\n').find_map(|line| {
        let start = at;
        at += line.len();
        line.starts_with("<<<<<<< ").then_some(start)
    })?;
    let problem = ConflictProblem {
        what: "git could not merge this file: it has conflict markers",
        help: "keep one side (`git checkout --ours -- FILE` or `--theirs`), or write it again: a baseline with goldgate run --update-baseline, a recording with goldgate record",
    };
    text[begins..]
        .lines()
        .any(|line| line.starts_with(">>>>>>> "))
        .then_some((begins, problem))
}
