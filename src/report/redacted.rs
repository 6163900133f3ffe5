//! Removes secrets from the texts of a report. Texts of recordings and of golden files are data of others, and a program can print its key
//! into them.

use std::borrow::Cow;

use crate::model::{
    AgentReport, ChangedText, Difference, EvidenceLine, JudgeConsensus, MetricReport, NotGateable,
    PairCheck, PairJudged, PairResult, PairShortfall, Report, UngradedReason, Vote,
};
use crate::text::Redactor;

/// Removes secrets from every text of a report that is not a name or an id. Verdicts and numbers are made before, so they do not
/// depend on the environment.
pub fn redact(report: &mut Report, redactor: &Redactor) {
    let redactor = ReportRedactor(redactor);
    redactor.texts(&mut report.notes);
    for reason in [&mut report.not_gateable].into_iter().flatten() {
        let NotGateable(words) = reason;
        redactor.text(words);
    }
    report
        .golden_changes
        .iter_mut()
        .for_each(|change| redactor.text(&mut change.words));
    for agent in report.suites.iter_mut().flat_map(|suite| &mut suite.agents) {
        redactor.agent(agent);
    }
}

struct ReportRedactor<'a>(&'a Redactor);

impl ReportRedactor<'_> {
    fn text(&self, text: &mut String) {
        if let Cow::Owned(plain) = self.0.excerpt(text) {
            *text = plain;
        }
    }

    fn optional(&self, text: &mut Option<String>) {
        text.iter_mut().for_each(|text| self.text(text));
    }

    fn fixed(&self, text: &mut Box<str>) {
        if let Cow::Owned(plain) = self.0.excerpt(text) {
            *text = plain.into();
        }
    }

    fn texts(&self, texts: &mut [String]) {
        texts.iter_mut().for_each(|text| self.text(text));
    }

    fn agent(&self, agent: &mut AgentReport) {
        self.texts(&mut agent.notes);
        for reason in agent.retired.values_mut() {
            self.text(reason);
        }
        for metric in &mut agent.metrics {
            self.metric(metric);
        }
        for pair in agent.cases.iter_mut().chain(&mut agent.drafts) {
            self.pair(pair);
        }
        let since = &mut agent.since_base;
        let outputs = since.outputs.values_mut().flatten();
        for text in since.agent.iter_mut().chain(outputs) {
            self.changed(text);
        }
    }

    fn changed(&self, text: &mut ChangedText) {
        let ChangedText {
            name: _,
            before: base,
            now: head,
            samples: _,
        } = text;
        self.optional(base);
        self.optional(head);
    }

    fn metric(&self, metric: &mut MetricReport) {
        for line in metric
            .evidence
            .cases
            .iter_mut()
            .flat_map(|case| &mut case.differences)
        {
            let EvidenceLine {
                difference,
                samples: _,
                tag: _,
                next_action,
                source: _,
            } = line;
            self.difference(difference);
            self.optional(next_action);
        }
    }

    fn difference(
        &self,
        Difference {
            expected,
            produced,
            line: _,
        }: &mut Difference,
    ) {
        self.text(expected);
        self.text(produced);
    }

    fn pair(&self, pair: &mut PairResult) {
        for lost in &mut pair.lost {
            match &mut lost.why {
                UngradedReason::Ended { status: _, error } => self.optional(error),
                UngradedReason::NotRecorded => {}
            }
        }
        for check in &mut pair.checks {
            self.check(check);
        }
        for PairShortfall {
            difference,
            samples: _,
            metrics: _,
        } in &mut pair.shortfalls
        {
            self.difference(difference);
        }
        for judged in &mut pair.judged {
            self.judged(judged);
        }
        if let Some(text) = &mut pair.asked {
            self.fixed(text);
        }
        for call in pair.calls.iter_mut().flatten() {
            self.text(&mut call.tool);
        }
        for (_, text) in &mut pair.kept {
            self.fixed(text);
        }
        for text in pair.complaints.values_mut() {
            self.text(text);
        }
    }

    fn check(
        &self,
        PairCheck {
            name: _,
            location: _,
            standing: _,
            failure,
            expected,
        }: &mut PairCheck,
    ) {
        if let Some(failure) = failure {
            self.text(&mut failure.detail);
            self.text(&mut failure.next_action);
        }
        expected.iter_mut().for_each(|text| self.fixed(text));
    }

    fn judged(&self, judged: &mut PairJudged) {
        self.consensus(&mut judged.opinion);
        for sample in &mut judged.samples {
            self.consensus(&mut sample.opinion);
            for vote in &mut sample.votes {
                match vote {
                    Vote::Given { mark: _, reason } | Vote::Missing(reason) => self.text(reason),
                }
            }
        }
    }

    fn consensus(&self, opinion: &mut JudgeConsensus) {
        match opinion {
            JudgeConsensus::Settled(_) => {}
            JudgeConsensus::Unsettled(why) => self.text(why),
        }
    }
}
