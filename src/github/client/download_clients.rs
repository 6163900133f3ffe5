//! The HTTP clients of downloads.

use anyhow::Context;
use octocrab::Octocrab;

use crate::world::env::Secret;
use crate::world::web;

/// The two clients of a download. Neither follows redirects by itself, because octocrab would add the token to every address on
/// the API's host.
pub struct DownloadClients {
    /// Calls the API with the token.
    pub(super) asking: Octocrab,
    /// Follows redirects without a token.
    pub(super) bare: Octocrab,
    /// Whether addresses without TLS are allowed; only if the API itself has none.
    pub(super) plain: bool,
}

impl DownloadClients {
    pub fn open(api: &str, token: &Secret) -> anyhow::Result<Self> {
        let context = "while building the client for downloads";
        let asking = Octocrab::builder()
            .base_uri(api)
            .with_context(|| format!("GITHUB_API_URL is {api:?}"))?;
        Ok(Self {
            asking: asking
                .personal_token(token.reveal())
                .build_with_reqwest(web::client()?)
                .context(context)?,
            // Without the API's address: octocrab puts its path, `/api/v3` of an Enterprise Server, in front of every other address too.
            bare: Octocrab::builder()
                .build_with_reqwest(web::client()?)
                .context(context)?,
            plain: api.starts_with("http://"),
        })
    }
}
