//! Names in narrow columns.

/// A name on several lines, if it is longer than `columns`: lines end after `_`, `-` and `/`, and before `[`.
pub(super) fn wrapped(name: &str, columns: usize) -> String {
    let mut lines = vec![String::new()];
    for part in parts(name) {
        let last =
            lines.last_mut().filter(|last| last.is_empty() || last.chars().count() + part.chars().count() <= columns);
        match last {
            Some(last) => last.push_str(part),
            None => lines.push(part.to_owned()),
        }
    }
    lines.join("\n")
}

/// The parts of a name between which a line may end.
fn parts(name: &str) -> impl Iterator<Item = &str> {
    name.split_inclusive(['_', '-', '/']).flat_map(|part| {
        let at = part.find('[').unwrap_or(0);
        let (before, after) = part.split_at(at);
        [before, after].into_iter().filter(|part| !part.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::wrapped;

    #[test]
    fn a_long_name_is_wrapped_between_its_words() {
        for (name, columns, lines) in [
            ("f1_score", 16, "f1_score"),
            ("citation_accuracy", 12, "citation_\naccuracy"),
            ("case_pass_rate[edge]", 15, "case_pass_rate\n[edge]"),
            ("agreement[finding]", 8, "agreement\n[finding]"),
            ("contracts/commercial-lease", 11, "contracts/\ncommercial-\nlease"),
            ("", 8, ""),
        ] {
            assert_eq!(wrapped(name, columns), lines);
        }
    }
}
