//! An answer of GitHub's API.

use http::{HeaderMap, StatusCode};

/// Entries per page.
pub(super) const PAGE: usize = 100;

/// An answer of GitHub, whatever its status.
pub(super) struct GitHubResponse {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Vec<u8>,
}

impl GitHubResponse {
    /// Whether a list continues after this page of `count` entries. A server may cap pages below the requested size, so its own
    /// link header decides, if there is one.
    pub(super) fn has_next(&self, count: usize) -> bool {
        let link = self.headers.get("link").and_then(|link| link.to_str().ok());
        link.map_or(count == PAGE, |link| link.contains("rel=\"next\""))
    }
}
