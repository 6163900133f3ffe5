//! Digests that show whether two measurements are of the same thing.

use sha2::{Digest, Sha256};

use super::Pair;
use crate::model::{Run, Sample};

/// The SHA-256 of bytes, in lower-case hexadecimal.
pub fn sha256_hex(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from_digit(half.into(), 16).unwrap_or('0');
    let digest = Sha256::digest(bytes);
    let mut hex = String::with_capacity(2 * digest.len());
    for byte in digest {
        hex.extend([digit(byte >> 4), digit(byte & 0xF)]);
    }
    hex
}

/// The digest of an agent's cases and expectations: the sorted lines `{digest}  {case}`.
pub fn suite_digest<'a>(pairs: impl IntoIterator<Item = &'a Pair>) -> String {
    let mut lines: Vec<String> =
        pairs.into_iter().map(|pair| [&*pair.digest, "  ", pair.case.as_str(), "\n"].concat()).collect();
    lines.sort_unstable();
    sha256_hex(lines.concat().as_bytes())
}

/// The digest of all outputs of the samples, in their order; `None` if the case itself contains what is graded.
pub fn outputs_digest(samples: &[Sample]) -> Option<String> {
    let runs = |sample: &Sample| match sample {
        Sample::Completed(runs) => runs.iter().map(|run: &Run| sha256_hex(run.outputs.as_bytes())).collect(),
        Sample::Inconclusive { .. } => vec!["lost".to_owned()],
        Sample::Spared => vec!["spared".to_owned()],
    };
    let lines: Vec<String> = samples.iter().flat_map(runs).collect();
    (!lines.is_empty()).then(|| sha256_hex(lines.join("\n").as_bytes()))
}
