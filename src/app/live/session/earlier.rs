//! Answers of earlier runs: of one that did not come to its end, and those in the cache.

use super::LiveSession;
use crate::app::live::{Caching, EarlierAnswers};
use crate::render::plural;

impl LiveSession<'_> {
    /// Takes over what is known already, as far as it may; gives what people should know of it.
    pub(in crate::app::live) fn take_over(&mut self, caching: Caching, earlier: EarlierAnswers) -> Vec<String> {
        let (mut resumed, mut hits, mut refused) = (0, 0, 0);
        for job in 0..self.jobs.len() {
            let address = &self.addresses[job];
            let cached = || self.is_cached(job, caching).then(|| self.cache.get(address)).flatten();
            let (text, taken) = match self.unfinished.get(address) {
                Some(text) => (text, &mut resumed),
                None => match cached() {
                    Some(text) => (hit(&text), &mut hits),
                    None => continue,
                },
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
            EarlierAnswers::None => "the verdict is on the agent of this commit",
            EarlierAnswers::All | EarlierAnswers::Addressed => {
                "the config does not name the files of the agent's program"
            }
        };
        let told = [
            (resumed, "of an unfinished run taken over".to_owned()),
            (hits, "taken from the cache".to_owned()),
            (refused, format!("of earlier runs not taken over, but asked for again: {why}")),
        ];
        let told = told.into_iter().filter(|(count, _)| *count > 0);
        told.map(|(count, what)| format!("{} {what}", plural(count, "answer was", "answers were"))).collect()
    }
}

/// A record as it comes from the cache. `provenance` is the last part of a record, so nothing that an agent wrote can be meant.
fn hit(text: &str) -> String {
    match text.rfind("\"cache\": \"miss\"") {
        Some(at) => format!("{}\"cache\": \"hit\"{}", &text[..at], &text[at + "\"cache\": \"miss\"".len()..]),
        None => text.to_owned(),
    }
}
