//! Digests that show whether two measurements are of the same thing.

use crate::files::sha256_hex;
use crate::model::Sample;
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
    let mut lines = Vec::new();
    for sample in samples {
        match sample {
            Sample::Completed(runs) => {
                for run in runs {
                    lines.push(sha256_hex(run.outputs.as_bytes()));
                }
            }
            Sample::Inconclusive { .. } => lines.push("lost".to_owned()),
            Sample::Spared => lines.push("spared".to_owned()),
        }
    }
    (!lines.is_empty()).then(|| sha256_hex(lines.join("\n").as_bytes()))
}
