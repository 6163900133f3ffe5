//! The cases of a suite, and the pairs that are graded on them.

use super::case_marks::CaseStage;
use crate::model::RepoPath;
use crate::suites::kind::{CaseIndex, CasePairs, Pair};

pub struct CaseTable<T> {
    pub pairs: CasePairs,
    pub cases: Vec<T>,
}

impl<T> CaseTable<T> {
    /// The table of these cases, each with its pairs, in this order. Here, once, the pairs of drafts are separated from those that
    /// count.
    pub fn of<P: IntoIterator<Item = Pair>>(
        path: RepoPath,
        rows: impl IntoIterator<Item = (T, P)>,
    ) -> Self {
        let rows = rows.into_iter();
        let most = rows.size_hint().1.unwrap_or_default();
        let (mut counted, mut drafts, mut cases) = (
            Vec::with_capacity(most),
            Vec::new(),
            Vec::with_capacity(most),
        );
        for (case, pairs) in rows {
            let case_index = CaseIndex(cases.len());
            for pair in pairs {
                match pair.marks.stage {
                    CaseStage::Accepted => counted.push(Pair { case_index, ..pair }),
                    CaseStage::Draft => drafts.push(Pair { case_index, ..pair }),
                }
            }
            cases.push(case);
        }
        Self {
            pairs: CasePairs {
                path,
                counted,
                drafts,
                retired: Vec::new(),
            },
            cases,
        }
    }

    /// The case of one of this table's pairs.
    pub fn case(&self, pair: &Pair) -> &T {
        &self.cases[pair.case_index.0]
    }
}
