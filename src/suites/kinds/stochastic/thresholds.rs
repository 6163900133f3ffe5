//! The thresholds of a scenario, and the values that are compared with them: of a run, or the means of all runs.

use std::fmt;

use crate::model::reaches;
use crate::suites::shared::rubric::{most_points, scaled};

/// What precision, recall and the rubric must reach.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Thresholds {
    pub precision: f64,
    pub recall: f64,
    /// The minimum points of the rubric; `None` if the scenario states none.
    pub rubric: Option<f64>,
}

impl Thresholds {
    /// The same for the dimensions of the rubric that can be measured.
    pub fn of_measured(self, has_part: impl Fn(&str) -> bool) -> Self {
        let most = most_points(has_part);
        Self {
            rubric: self.rubric.map(|minimum| scaled(minimum, most)),
            ..self
        }
    }
}

impl fmt::Display for Thresholds {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            precision,
            recall,
            rubric,
        } = self;
        write!(
            out,
            "precision at least {precision} and recall at least {recall}"
        )?;
        match rubric {
            Some(rubric) => write!(out, " and at least {rubric} points of the rubric"),
            None => Ok(()),
        }
    }
}

/// The values of a run, or the means of several.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ComparedValues {
    pub precision: f64,
    pub recall: f64,
    /// `None` if the scenario has no minimum of the rubric.
    pub rubric: Option<f64>,
}

impl ComparedValues {
    pub fn reach(self, thresholds: Thresholds) -> bool {
        let has_points = match (thresholds.rubric, self.rubric) {
            (None, _) => true,
            (Some(least), Some(points)) => reaches(points, least),
            (Some(_), None) => false,
        };
        reaches(self.precision, thresholds.precision)
            && reaches(self.recall, thresholds.recall)
            && has_points
    }
}
