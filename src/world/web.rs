//! Builds all HTTP clients.

use std::time::Duration;

use anyhow::Context;
use reqwest::redirect::Policy;
use reqwest::{Certificate, Client, ClientBuilder};
use rustls::crypto::ring;

/// A client of the API, with the proxies of the environment (`HTTPS_PROXY`, `NO_PROXY`, …), and with the root certificates of the system
/// and of Mozilla: it works in an image without certificates and with a company's own ones. It follows no redirect by itself, so that
/// the caller decides what is sent to which host.
#[cfg(feature = "github")]
pub fn client() -> anyhow::Result<Client> {
    let builder = builder()
        .redirect(Policy::none())
        .read_timeout(Duration::from_secs(30));
    builder.build().context("while building the HTTP client")
}

/// A client for live targets. It has no read timeout, because a model may think before its first byte, and follows no redirect,
/// because that would send the vendor's key header to another host.
#[cfg(feature = "models")]
pub fn client_for_targets() -> anyhow::Result<Client> {
    builder()
        .redirect(Policy::none())
        .build()
        .context("while building the HTTP client")
}

/// Bytes that nobody can guess.
///
/// # Errors
/// The system has none.
#[cfg(feature = "models")]
pub fn random_bytes<const LENGTH: usize>() -> anyhow::Result<[u8; LENGTH]> {
    let mut bytes = [0; LENGTH];
    ring::default_provider()
        .secure_random
        .fill(&mut bytes)
        .map_err(|_| anyhow::anyhow!("the system gives no random bytes"))?;
    Ok(bytes)
}

fn builder() -> ClientBuilder {
    // A second call fails because the same provider is already installed.
    let _ = ring::default_provider().install_default();
    let roots = webpki_root_certs::TLS_SERVER_ROOT_CERTS
        .iter()
        .filter_map(|der| Certificate::from_der(der).ok());
    Client::builder()
        .tls_certs_merge(roots)
        .connect_timeout(Duration::from_secs(10))
        .user_agent(concat!("goldgate/", env!("CARGO_PKG_VERSION")))
}
