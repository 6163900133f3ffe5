//! Reuses answers of earlier runs: of an unfinished run, and from the cache.

use super::LiveSession;
use crate::live::{Caching, EarlierAnswers};
use crate::render::plural;

impl LiveSession<'_> {
    /// Reuses known answers if allowed. Returns notes about the reused and refused ones.
    pub(in crate::live) fn reuse_answers(
        &mut self,
        caching: Caching,
        earlier: EarlierAnswers,
    ) -> Vec<String> {
        let (mut resumed, mut hits, mut refused) = (0, 0, 0);
        // A replay of exchanges depends on the recording, which no address covers, and costs nothing.
        for job in 0..self.jobs.len() {
            if self.wanted[self.runs[job]].live.exchanges.is_some() {
                continue;
            }
            let address = &self.saved.addresses[job];
            let (text, taken) = if let Some(text) = self.saved.unfinished.get(address) {
                (text, &mut resumed)
            } else if self.saved.is_cached(job, caching)
                && let Some(text) = self.saved.cache.get(address)
            {
                (text, &mut hits)
            } else {
                continue;
            };
            match (earlier, self.is_addressed[job]) {
                (EarlierAnswers::All, _) | (EarlierAnswers::Addressed, true) => {
                    *taken += 1;
                    self.known.insert(job, text);
                }
                (EarlierAnswers::Addressed, false) | (EarlierAnswers::None, _) => refused += 1,
            }
        }
        let why = match earlier {
            EarlierAnswers::None => "the verdict must be on the agent of this commit",
            EarlierAnswers::All | EarlierAnswers::Addressed => {
                "the config does not name the files of the agent's program"
            }
        };
        let notes = [
            (resumed, "reused from an unfinished run".to_owned()),
            (hits, "reused from the cache".to_owned()),
            (
                refused,
                format!("of earlier runs not reused, but requested again: {why}"),
            ),
        ];
        let notes = notes.into_iter().filter(|(count, _)| *count > 0);
        notes
            .map(|(count, remark)| {
                format!("{} {remark}", plural(count, "answer was", "answers were"))
            })
            .collect()
    }
}
