//! The client for everything that is asked over HTTP: the only user of reqwest.

use std::time::Duration;

use anyhow::Context;
use reqwest::Certificate;
use reqwest::Client;
use reqwest::redirect::Policy;
use rustls::crypto::ring;

/// A client with the proxies of the environment (`HTTPS_PROXY`, `NO_PROXY`, …), the system's certificate roots and Mozilla's:
/// an image without roots can work, and so can a server whose certificate only the company's own system knows.
///
/// # Errors
/// Why it cannot be built.
pub fn client() -> anyhow::Result<Client> {
    built(Policy::default())
}

/// The same, without following a redirect: who is asked next, and with what, is the caller's to decide.
///
/// # Errors
/// Why it cannot be built.
#[cfg(feature = "github")]
pub fn still_client() -> anyhow::Result<Client> {
    built(Policy::none())
}

fn built(redirects: Policy) -> anyhow::Result<Client> {
    // A second call finds the first one's provider in place, which is the same.
    let _ = ring::default_provider().install_default();
    let roots = webpki_root_certs::TLS_SERVER_ROOT_CERTS.iter().filter_map(|der| Certificate::from_der(der).ok());
    Client::builder()
        .tls_certs_merge(roots)
        .redirect(redirects)
        .connect_timeout(Duration::from_secs(10))
        .read_timeout(Duration::from_secs(30))
        .user_agent(concat!("goldgate/", env!("CARGO_PKG_VERSION")))
        .build()
        .context("while building the HTTP client")
}
