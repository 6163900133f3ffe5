//! The cases of a suite, and the pairs that are graded on them.

use super::case_marks::CaseStage;
use crate::suites::kind::{CaseIndex, Pair};

/// The cases of a suite with their pairs. Here, once, the pairs of drafts are separated from those that count.
pub struct CaseTable<T> {
    pairs: Vec<Pair>,
    drafts: Vec<Pair>,
    cases: Vec<T>,
}

impl<T> CaseTable<T> {
    /// The table of these cases, each with its pairs, in this order.
    pub fn of<P: IntoIterator<Item = Pair>>(rows: impl IntoIterator<Item = (T, P)>) -> Self {
        let rows = rows.into_iter();
        let most = rows.size_hint().1.unwrap_or_default();
        let mut table = Self { pairs: Vec::with_capacity(most), drafts: Vec::new(), cases: Vec::with_capacity(most) };
        for (case, pairs) in rows {
            let case_index = CaseIndex(table.cases.len());
            for pair in pairs {
                match pair.marks.stage {
                    CaseStage::Accepted => table.pairs.push(Pair { case_index, ..pair }),
                    CaseStage::Draft => table.drafts.push(Pair { case_index, ..pair }),
                }
            }
            table.cases.push(case);
        }
        table
    }

    /// The pairs that count: those of cases that are no drafts.
    pub fn pairs(&self) -> &[Pair] {
        &self.pairs
    }

    /// The pairs of drafts.
    pub fn drafts(&self) -> &[Pair] {
        &self.drafts
    }

    /// All cases.
    pub fn cases(&self) -> &[T] {
        &self.cases
    }

    /// The case of one of this table's pairs.
    pub fn case(&self, pair: &Pair) -> &T {
        &self.cases[pair.case_index.0]
    }
}
