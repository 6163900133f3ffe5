//! Bootstrap intervals: how much of a difference between two measurements of the same cases may be noise.

use std::collections::BTreeSet;

use super::FEWEST_CASES;
use super::quantile::{normal_below, student_quantile};
use crate::model::{Aggregate, MetricSpec, ValueSource, harmonic};

/// The same cases, measured twice: one row per case, one column per metric.
pub struct PairedCases<'a> {
    pub specs: &'a [MetricSpec],
    /// This run's values.
    pub now: &'a [Vec<Option<f64>>],
    /// The baseline's values, with the same rows.
    pub before: &'a [Vec<Option<f64>>],
    /// The document of each row: rows of one document are drawn together, because they depend on each other.
    pub documents: &'a [usize],
}

/// Largest number of documents for which all resamples are enumerated, if they have few rows.
const EXACT: usize = 7;

/// Number of resamples of seven documents, ignoring order.
const DRAWINGS: usize = 1716;

/// Most cells that are computed in total; it limits the work for large suites.
const WORK: usize = 4_000_000;

/// A 95 % interval of each metric's difference by resampling documents with replacement: the paired cluster bootstrap.
///
/// Efron and Tibshirani, "An Introduction to the Bootstrap" (1993), chapters 8 (pairs stay together) and 13 (percentiles); drawing whole
/// clusters is from Davison and Hinkley, "Bootstrap Methods and their Application" (1997), section 3.8. Plain percentiles are too narrow
/// for few documents, so they are widened to `Φ(-t(97.5 %, n - 1) · sqrt(n / (n - 1)))`: the expanded percentile interval of Hesterberg,
/// "What Teachers Should Know About the Bootstrap", American Statistician 69 (2015). Up to seven documents all resamples are enumerated
/// with their probabilities; for more, a fixed seed draws 200 to 2000.
///
/// `None` for an extreme such as the worst case, which resampling cannot estimate; for a metric without a value on either side; and for
/// fewer than five documents on which both sides have a value of the metric.
pub fn intervals(paired: &PairedCases<'_>) -> Vec<Option<(f64, f64)>> {
    let columns = paired.specs.len();
    let documents = by_document(paired.documents);
    let measured: Vec<usize> = (0..columns)
        .map(|column| measured_documents(paired, column))
        .collect();
    if measured.iter().all(|documents| *documents < FEWEST_CASES) {
        return vec![None; columns];
    }
    let resampled: Vec<Option<Resampled>> = paired
        .specs
        .iter()
        .enumerate()
        .map(|(column, spec)| {
            let has_interval = measured[column] >= FEWEST_CASES && is_smooth(spec, paired.specs);
            if has_interval {
                Resampled::of(paired, &documents, column)
            } else {
                None
            }
        })
        .collect();
    let mut drawn: Vec<Vec<WeightedDifference>> = vec![Vec::new(); columns];
    let mut keep = |counts: &[usize], weight: f64| {
        for (values, metric) in drawn.iter_mut().zip(&resampled) {
            if let Some(metric) = metric.as_ref().filter(|metric| !metric.is_same) {
                let value = metric.difference(counts);
                values.extend(value.map(|value| WeightedDifference { value, weight }));
            }
        }
    };
    if resampled.iter().flatten().any(|metric| !metric.is_same) {
        match documents.len() {
            few @ ..=EXACT if paired.now.len() * columns * DRAWINGS <= WORK => {
                every_drawing(few, &mut keep)
            }
            many => some_drawings(many, rounds(paired.now.len(), columns), &mut keep),
        }
    }
    let metrics = resampled.into_iter().zip(drawn).zip(measured);
    metrics
        .map(|((metric, values), documents)| {
            if metric?.is_same {
                Some((0.0, 0.0))
            } else {
                percentiles(values, tail(documents))
            }
        })
        .collect()
}

/// The values of a metric in one document: rows of one document are drawn together.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct DocumentSum {
    sum: f64,
    /// The rows with a value.
    measured: usize,
    rows: usize,
}

/// One metric on both sides, by document.
struct MetricSums {
    aggregate: Aggregate,
    source: ValueSource,
    now: Vec<DocumentSum>,
    before: Vec<DocumentSum>,
}

/// What is resampled of a metric.
struct Resampled {
    /// Its own sums, or those of the two metrics of which it is the harmonic mean.
    parts: Vec<MetricSums>,
    /// Whether both sides are equal: then all resamples have the same difference.
    is_same: bool,
}

impl Resampled {
    /// `None` if the metric has no value on either side.
    fn of(paired: &PairedCases<'_>, documents: &[Vec<usize>], column: usize) -> Option<Self> {
        let columns = match paired.specs[column].aggregate.parts() {
            Some(names) => names
                .iter()
                .map(|name| paired.specs.iter().position(|spec| spec.name == *name))
                .collect::<Option<Vec<usize>>>()?,
            None => vec![column],
        };
        let parts: Vec<MetricSums> = columns
            .into_iter()
            .map(|column| MetricSums::of(paired, documents, column))
            .collect();
        let is_same = parts.iter().all(|sums| sums.now == sums.before);
        let resampled = Self { parts, is_same };
        resampled.difference(&vec![1; documents.len()])?;
        Some(resampled)
    }

    /// The difference on documents of which each is drawn this often; `None` without a value.
    fn difference(&self, counts: &[usize]) -> Option<f64> {
        match self.parts.as_slice() {
            [first, second] => {
                let run = harmonic(first.now(counts)?, second.now(counts)?);
                let baseline = harmonic(first.before(counts)?, second.before(counts)?);
                Some(run - baseline)
            }
            parts => {
                let sums = parts.first()?;
                Some(sums.now(counts)? - sums.before(counts)?)
            }
        }
    }
}

impl MetricSums {
    fn of(paired: &PairedCases<'_>, documents: &[Vec<usize>], column: usize) -> Self {
        Self {
            aggregate: paired.specs[column].aggregate,
            source: paired.specs[column].source,
            now: document_sums(paired.now, documents, column),
            before: document_sums(paired.before, documents, column),
        }
    }

    fn now(&self, counts: &[usize]) -> Option<f64> {
        self.value(&self.now, counts)
    }

    fn before(&self, counts: &[usize]) -> Option<f64> {
        self.value(&self.before, counts)
    }

    fn value(&self, side: &[DocumentSum], counts: &[usize]) -> Option<f64> {
        let (mut sum, mut measured, mut rows) = (0.0, 0, 0);
        for (document, count) in side.iter().zip(counts).filter(|(_, count)| **count > 0) {
            sum += *count as f64 * document.sum;
            measured += count * document.measured;
            rows += count * document.rows;
        }
        // A case that does not state what it used would otherwise make the agent look cheaper.
        let is_whole = self.source != ValueSource::Use || measured == rows;
        match self.aggregate {
            _ if measured == 0 || !is_whole => None,
            Aggregate::Sum => Some(sum),
            _ => Some(sum / measured as f64),
        }
    }
}

fn document_sums(
    side: &[Vec<Option<f64>>],
    documents: &[Vec<usize>],
    column: usize,
) -> Vec<DocumentSum> {
    let mut by_document = Vec::with_capacity(documents.len());
    for rows in documents {
        let mut sums = DocumentSum {
            rows: rows.len(),
            ..DocumentSum::default()
        };
        for value in rows.iter().filter_map(|row| side[*row][column]) {
            sums.sum += value;
            sums.measured += 1;
        }
        by_document.push(sums);
    }
    by_document
}

/// Number of documents on which both sides have a value of the metric. An average of two metrics has as many as the poorer one.
fn measured_documents(paired: &PairedCases<'_>, column: usize) -> usize {
    match paired.specs[column].aggregate.parts() {
        Some([first, second]) => {
            documents_of_metric(paired, first).min(documents_of_metric(paired, second))
        }
        None => documents_of_column(paired, column),
    }
}

fn documents_of_metric(paired: &PairedCases<'_>, name: &str) -> usize {
    let column = paired.specs.iter().position(|spec| spec.name == name);
    column.map_or(0, |column| documents_of_column(paired, column))
}

fn documents_of_column(paired: &PairedCases<'_>, column: usize) -> usize {
    let mut measured = BTreeSet::new();
    let rows = paired.now.iter().zip(paired.before);
    for ((run, baseline), document) in rows.zip(paired.documents) {
        if run[column].is_some() && baseline[column].is_some() {
            measured.insert(document);
        }
    }
    measured.len()
}

#[derive(Debug, Clone, Copy)]
struct WeightedDifference {
    value: f64,
    weight: f64,
}

fn by_document(documents: &[usize]) -> Vec<Vec<usize>> {
    let mut rows: Vec<Vec<usize>> = Vec::new();
    for (row, document) in documents.iter().enumerate() {
        rows.resize(rows.len().max(document + 1), Vec::new());
        rows[*document].push(row);
    }
    rows.retain(|rows| !rows.is_empty());
    rows
}

/// Enumerates all resamples of `count` documents, each with the number of the `count ^ count` ordered draws that it represents.
fn every_drawing(count: usize, keep: &mut impl FnMut(&[usize], f64)) {
    fn further(
        counts: &mut [usize],
        index: usize,
        left: usize,
        weight: f64,
        keep: &mut impl FnMut(&[usize], f64),
    ) {
        if index + 1 == counts.len() {
            counts[index] = left;
            keep(counts, weight);
            return;
        }
        let mut ways = weight;
        for taken in 0..=left {
            counts[index] = taken;
            further(counts, index + 1, left - taken, ways, keep);
            // From `left` over `taken` to `left` over `taken + 1`.
            ways = ways * (left - taken) as f64 / (taken + 1) as f64;
        }
    }
    further(&mut vec![0; count], 0, count, 1.0, keep);
}

fn some_drawings(count: usize, rounds: usize, keep: &mut impl FnMut(&[usize], f64)) {
    let mut random = fastrand::Rng::with_seed(0x676f_6c64);
    let mut counts = vec![0; count];
    for _ in 0..rounds {
        counts.fill(0);
        (0..count).for_each(|_| counts[random.usize(0..count)] += 1);
        keep(&counts, 1.0);
    }
}

/// Number of random resamples: many for small tables, fewer for large ones, but enough for a percentile.
fn rounds(rows: usize, columns: usize) -> usize {
    (WORK / (rows * columns).max(1)).clamp(200, 2000)
}

/// The share of resamples outside the interval on each side.
fn tail(documents: usize) -> f64 {
    let count = documents as f64;
    normal_below(-student_quantile(0.975, documents - 1) * (count / (count - 1.0)).sqrt())
}

/// Whether a value changes little if one case changes little: only then do resamples show how it varies.
fn is_smooth(spec: &MetricSpec, specs: &[MetricSpec]) -> bool {
    match spec.aggregate {
        Aggregate::Mean | Aggregate::Rate | Aggregate::Sum => true,
        Aggregate::Worst
        | Aggregate::Median
        | Aggregate::P95
        | Aggregate::Coverage
        | Aggregate::NewlyFailing => false,
        Aggregate::Harmonic(first, second) => has_smooth(specs, first) && has_smooth(specs, second),
    }
}

fn has_smooth(specs: &[MetricSpec], name: &str) -> bool {
    specs
        .iter()
        .any(|spec| spec.name == name && is_smooth(spec, &[]))
}

/// The smallest value with at least the share `tail` of the resamples at or below it, and the largest with as many at or above it.
fn percentiles(mut values: Vec<WeightedDifference>, tail: f64) -> Option<(f64, f64)> {
    values.sort_by(|left, right| left.value.total_cmp(&right.value));
    let needed = tail * values.iter().map(|drawn| drawn.weight).sum::<f64>();
    let low = value_at(values.iter(), needed)?;
    let high = value_at(values.iter().rev(), needed)?;
    Some((low, high))
}

/// The value at which the weights reach this sum.
fn value_at<'d>(values: impl Iterator<Item = &'d WeightedDifference>, needed: f64) -> Option<f64> {
    let mut reached = 0.0;
    for drawn in values {
        reached += drawn.weight;
        if reached >= needed {
            return Some(drawn.value);
        }
    }
    None
}

#[cfg(test)]
mod tests;
