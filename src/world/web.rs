//! The clients for everything that is asked over HTTP: the only place that builds one.

use std::time::Duration;

use anyhow::Context;
use reqwest::redirect::Policy;
use reqwest::{Certificate, Client, ClientBuilder};
use rustls::crypto::ring;

/// A client with the proxies of the environment (`HTTPS_PROXY`, `NO_PROXY`, …), the system's certificate roots and Mozilla's:
/// an image without roots can work, and so can a server whose certificate only the company's own system knows.
///
/// # Errors
/// Why it cannot be built.
#[cfg(feature = "github")]
pub fn client() -> anyhow::Result<Client> {
    builder().read_timeout(Duration::from_secs(30)).build().context("while building the HTTP client")
}

/// The same, without following a redirect: who is asked next, and with what, is the caller's to decide.
///
/// # Errors
/// Why it cannot be built.
#[cfg(feature = "github")]
pub fn still_client() -> anyhow::Result<Client> {
    let builder = builder().redirect(Policy::none()).read_timeout(Duration::from_secs(30));
    builder.build().context("while building the HTTP client")
}

/// A client for live targets. A model thinks before its answer's first byte, so the caller watches over the time; and a key in
/// a header of the vendor's own would go along to where a redirection leads, so none is followed.
///
/// # Errors
/// Why it cannot be built.
#[cfg(feature = "models")]
pub fn client_for_targets() -> anyhow::Result<Client> {
    builder().redirect(Policy::none()).build().context("while building the HTTP client")
}

fn builder() -> ClientBuilder {
    // A second call finds the first one's provider in place, which is the same.
    let _ = ring::default_provider().install_default();
    let roots = webpki_root_certs::TLS_SERVER_ROOT_CERTS.iter().filter_map(|der| Certificate::from_der(der).ok());
    Client::builder()
        .tls_certs_merge(roots)
        .connect_timeout(Duration::from_secs(10))
        .user_agent(concat!("goldgate/", env!("CARGO_PKG_VERSION")))
}
