//! A header with a secret.

use reqwest::header::HeaderValue;

use super::Unopened;
use crate::world::env::Secret;

/// A header with a key, which logs do not show.
///
/// # Errors
/// The key is not a valid header value.
pub fn secret_header(prefix: &str, key: &Secret) -> Result<HeaderValue, Unopened> {
    let mut value =
        HeaderValue::from_str(&format!("{prefix}{}", key.reveal().trim())).map_err(|_| {
            Unopened::Unusable(
                "the key contains characters that are not allowed in a header".to_owned(),
            )
        })?;
    value.set_sensitive(true);
    Ok(value)
}
