//! The number of threads that grade.

use super::env::Env;
use crate::model::InputLimit;

/// Limits the number of threads that `RAYON_NUM_THREADS` asks for: starting very many takes minutes.
pub fn limit_threads(env: &Env) {
    let wanted: Option<u64> = env.get("RAYON_NUM_THREADS").and_then(|text| text.trim().parse().ok());
    let most = InputLimit::THREADS.most;
    if wanted.is_some_and(|wanted| wanted > most) {
        // The threads were started before, with the number that the first caller wanted.
        let _ = rayon::ThreadPoolBuilder::new().num_threads(usize::try_from(most).unwrap_or(1)).build_global();
    }
}
