//! Who pushed the head of a branch.

use crate::model::BranchPush;

/// Who pushed the head of a branch, newest first, up to the first person below pushes of bots. Empty if that person is unknown; `None` if
/// the pushes, which are newest first, do not show the head.
pub fn pushers(
    pushes: &[BranchPush],
    head: &str,
    is_bot: &dyn Fn(&str) -> bool,
) -> Option<Vec<String>> {
    let (mut found, mut tip, mut older) = (Vec::new(), head, pushes);
    while let Some(index) = older.iter().position(|push| push.after == tip) {
        let push = &older[index];
        let Some(by) = &push.by else {
            return Some(Vec::new());
        };
        found.push(by.clone());
        let has_created = push.before.bytes().all(|digit| digit == b'0') && !push.before.is_empty();
        if !is_bot(by) || has_created {
            return Some(found);
        }
        (tip, older) = (&push.before, &older[index + 1..]);
    }
    (!found.is_empty()).then(Vec::new)
}

#[cfg(test)]
mod tests {
    use super::pushers;
    use crate::model::BranchPush;

    #[test]
    fn below_the_pushes_of_bots_a_person_is_looked_for() {
        let push = |before: &str, after: &str, by: &str| BranchPush {
            before: before.to_owned(),
            after: after.to_owned(),
            by: (!by.is_empty()).then(|| by.to_owned()),
        };
        let is_bot = |login: &str| login.ends_with("[bot]");
        let of = |pushes: &[BranchPush]| pushers(pushes, "c", &is_bot).map(|found| found.join(" "));
        let (bot, again) = (push("b", "c", "a[bot]"), push("a", "b", "b[bot]"));
        assert_eq!(
            of(&[push("b", "c", "alice"), again.clone()]).as_deref(),
            Some("alice")
        );
        assert_eq!(
            of(&[bot.clone(), again.clone(), push("x", "a", "bob")]).as_deref(),
            Some("a[bot] b[bot] bob")
        );
        assert_eq!(
            of(&[bot.clone(), push("000", "b", "b[bot]")]).as_deref(),
            Some("a[bot] b[bot]"),
            "a bot made the branch"
        );
        assert_eq!(
            of(&[bot.clone(), again]).as_deref(),
            Some(""),
            "who pushed before is unknown"
        );
        assert_eq!(
            of(&[bot, push("a", "b", "")]).as_deref(),
            Some(""),
            "a deleted account"
        );
        assert_eq!(
            of(&[push("c", "d", "alice")]),
            None,
            "the head is not shown"
        );
        // The head was there before, by somebody else.
        assert_eq!(
            of(&[
                push("d", "c", "alice"),
                push("c", "d", "bob"),
                push("x", "c", "bob")
            ])
            .as_deref(),
            Some("alice")
        );
    }
}
