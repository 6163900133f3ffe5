//! Digests that show whether two measurements are of the same thing.

use crate::files::sha256_hex;
use crate::model::{Run, Sample};
use crate::suites::kind::Pair;

/// The digest of an agent's cases and expectations: the sorted lines `{digest}  {case}`.
pub fn suite_digest<'a>(pairs: impl IntoIterator<Item = &'a Pair>) -> String {
    let mut lines: Vec<String> = pairs
        .into_iter()
        .map(|pair| [&*pair.digest, "  ", pair.case.as_str(), "\n"].concat())
        .collect();
    lines.sort_unstable();
    sha256_hex(lines.concat().as_bytes())
}

/// The digest of all outputs of the samples, in their order; `None` if the case itself contains what is graded.
pub fn outputs_digest(samples: &[Sample]) -> Option<String> {
    let runs = |sample: &Sample| match sample {
        Sample::Completed(runs) => runs
            .iter()
            .map(|run: &Run| sha256_hex(run.outputs.as_bytes()))
            .collect(),
        Sample::Inconclusive { .. } => vec!["lost".to_owned()],
        Sample::Spared => vec!["spared".to_owned()],
    };
    let lines: Vec<String> = samples.iter().flat_map(runs).collect();
    (!lines.is_empty()).then(|| sha256_hex(lines.join("\n").as_bytes()))
}
