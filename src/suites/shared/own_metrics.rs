//! The metrics of a kind as a struct with one field per metric, so that a value belongs to its metric by name.
//!
//! [`metrics!`] declares the struct and the table together, so the compiler proves what no list of numbers could: a grade sets every
//! metric, none twice, and swapping two lines of the table or of a grade changes nothing but the order in reports.

use crate::model::{Aggregate, Better, Layer, MetricSpec, Unit};

/// One item for each metric of a kind: the value of a sample, or of a pair.
pub trait ByMetric<T>: Sized {
    /// Names the items of a list in table order, such as the values of a pair; `None` if it is shorter than the table.
    fn from_table_order(list: impl IntoIterator<Item = T>) -> Option<Self>;

    /// The items in table order.
    fn into_table_order(self) -> Vec<T>;
}

/// How much of a completed sample could be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadPart {
    Some,
    Nothing,
}

impl From<Layer> for ReadPart {
    fn from(layer: Layer) -> Self {
        match layer {
            Layer::Structured | Layer::Strict | Layer::Repaired | Layer::Salvaged => Self::Some,
            Layer::Unreadable => Self::Nothing,
        }
    }
}

/// The values of a completed sample, in table order. One of which nothing can be read has the worst value of every metric. An amount
/// has no worst value, and rates of cases are what the failed checks make them.
pub fn values_of_sample(
    table: &[MetricSpec],
    read: ReadPart,
    values: impl ByMetric<Option<f64>>,
) -> Vec<Option<f64>> {
    let values = values.into_table_order();
    if read == ReadPart::Some {
        return values;
    }
    values
        .into_iter()
        .zip(table)
        .map(|(value, spec)| match spec.aggregate {
            Aggregate::Rate => value,
            _ => worst(spec),
        })
        .collect()
}

/// The worst value of a metric; `None` if a value can always be worse.
fn worst(spec: &MetricSpec) -> Option<f64> {
    match (spec.unit, spec.better) {
        (Unit::Share | Unit::Points, Better::Higher) => Some(0.0),
        (Unit::Share, Better::Lower) => Some(1.0),
        (Unit::Share | Unit::Points, Better::Lower | Better::Neither)
        | (Unit::Count | Unit::Spread | Unit::Dollars, _) => None,
    }
}

/// Declares a kind's own metrics in report order: a struct `Name<T>` with a field for each of them, and their table
/// `Name::TABLE`, which ends with the metrics of every kind.
///
/// A metric has the name of its field, unless it states one with brackets: `rate[of_one]` is the field `rate_of_one`. Another name does
/// not compile.
macro_rules! metrics {
    ($Metrics:ident { $($metric:ident: $spec:expr),+ $(,)? }) => {
        /// One item for each of the kind's own metrics; by default nothing is measured.
        #[derive(Default)]
        struct $Metrics<T> {
            $($metric: T),+
        }

        impl $Metrics<$crate::model::MetricSpec> {
            /// The kind's own metrics, then those of every kind.
            const TABLE: &'static [$crate::model::MetricSpec] = {
                const OWN: &[$crate::model::MetricSpec] =
                    &[$($crate::suites::shared::own_metrics::of_field(stringify!($metric), $spec)),+];
                const ALL: usize = OWN.len() + $crate::suites::shared::every_kind::COMMON.len();
                &$crate::suites::shared::every_kind::with_common::<ALL>(OWN)
            };
        }

        impl<T> $crate::suites::shared::own_metrics::ByMetric<T> for $Metrics<T> {
            fn from_table_order(list: impl IntoIterator<Item = T>) -> Option<Self> {
                let mut list = list.into_iter();
                Some(Self { $($metric: list.next()?),+ })
            }

            fn into_table_order(self) -> Vec<T> {
                vec![$(self.$metric),+]
            }
        }
    };
}

pub(crate) use metrics;

/// The metric of a field. Stops the build if it states a name that is not the field's.
pub const fn of_field(field: &'static str, spec: MetricSpec) -> MetricSpec {
    if spec.name.is_empty() {
        return MetricSpec {
            name: field,
            ..spec
        };
    }
    assert!(
        is_named(field.as_bytes(), spec.name.as_bytes()),
        "the field of a metric has the metric's name"
    );
    spec
}

/// Whether a field has the name of a metric: `rate_of_one` is the field of `rate[of_one]`.
const fn is_named(field: &[u8], metric: &[u8]) -> bool {
    let (mut at, mut read) = (0, 0);
    while read < metric.len() {
        if metric[read] != b']' {
            let expected = if metric[read] == b'[' {
                b'_'
            } else {
                metric[read]
            };
            if at >= field.len() || field[at] != expected {
                return false;
            }
            at += 1;
        }
        read += 1;
    }
    at == field.len()
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::{ByMetric, is_named};
    use crate::model::MetricSpec;
    use crate::suites::{COMMON, KINDS};

    metrics!(OneOrder {
        recall: MetricSpec::PLAIN,
        rate_of_one: MetricSpec {
            name: "rate[of_one]",
            ..MetricSpec::PLAIN
        },
        precision: MetricSpec::PLAIN,
    });

    metrics!(OtherOrder {
        precision: MetricSpec::PLAIN,
        recall: MetricSpec::PLAIN,
        rate_of_one: MetricSpec {
            name: "rate[of_one]",
            ..MetricSpec::PLAIN
        },
    });

    fn by_name(table: &[MetricSpec], values: Vec<Option<f64>>) -> BTreeMap<&str, Option<f64>> {
        assert_eq!(values.len() + COMMON.len(), table.len());
        table.iter().map(|spec| spec.name).zip(values).collect()
    }

    #[test]
    fn the_order_of_the_table_and_of_a_grade_decides_no_value() {
        let one = OneOrder {
            recall: Some(0.5),
            rate_of_one: None,
            precision: Some(0.25),
        };
        let other = OtherOrder {
            rate_of_one: None,
            precision: Some(0.25),
            recall: Some(0.5),
        };
        let one = by_name(OneOrder::TABLE, one.into_table_order());
        assert_eq!(one, by_name(OtherOrder::TABLE, other.into_table_order()));
        assert_eq!(
            one,
            [
                ("precision", Some(0.25)),
                ("rate[of_one]", None),
                ("recall", Some(0.5))
            ]
            .into()
        );
    }

    #[test]
    fn a_list_in_table_order_is_read_by_name() {
        let read = OtherOrder::from_table_order([1, 2, 3, 4]).unwrap();
        assert_eq!((read.precision, read.recall, read.rate_of_one), (1, 2, 3));
        assert!(OtherOrder::from_table_order([1, 2]).is_none());
    }

    #[test]
    fn a_field_has_the_name_of_its_metric() {
        for (field, metric, expected) in [
            ("recall", "recall", true),
            ("rate_of_one", "rate[of_one]", true),
            ("rate", "rate[of_one]", false),
            ("rate_of_one", "rate", false),
            ("recall", "precision", false),
        ] {
            assert_eq!(
                is_named(field.as_bytes(), metric.as_bytes()),
                expected,
                "{field} {metric}"
            );
        }
    }

    #[test]
    fn no_kind_has_two_metrics_of_one_name() {
        for kind in KINDS {
            let names: BTreeSet<&str> = kind.metrics.iter().map(|spec| spec.name).collect();
            assert_eq!(names.len(), kind.metrics.len(), "{}", kind.name);
        }
    }
}
