//! The real servers behind the endpoint, and their keys.

use reqwest::header::{AUTHORIZATION, HeaderMap};
use reqwest::{Client, Url};

use super::sample_key::{KEY_HEADERS, SampleKey};
use crate::live::targets::Unopened;
use crate::live::targets::secret_header::secret_header;
use crate::model::{CaptureSource, ExchangeWire};
use crate::world::env::{Env, Secret};
use crate::world::web::client_for_targets;

/// Which server answers a captured agent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum UpstreamChoice {
    /// The one that the environment names, else the vendor.
    #[default]
    Usual,
    /// This one, for both wire formats.
    Stated(String),
}

/// The servers of both wire formats.
pub struct Upstreams {
    pub client: Client,
    openai: Upstream,
    anthropic: Upstream,
}

struct Upstream {
    base: Url,
    key: Option<Secret>,
}

impl Upstreams {
    /// The servers by the command line, else by the environment, else the vendors.
    ///
    /// # Errors
    /// An address that is none, or a vendor without a key.
    pub fn open(
        choice: &UpstreamChoice,
        source: CaptureSource,
        passed_on: &[String],
        env: &Env,
    ) -> Result<Self, Unopened> {
        let client =
            client_for_targets().map_err(|error| Unopened::Unusable(format!("{error:#}")))?;
        let upstreams = Self {
            client,
            openai: Upstream::of(
                choice,
                env,
                (
                    "OPENAI_BASE_URL",
                    "OPENAI_API_KEY",
                    "https://api.openai.com",
                ),
            )?,
            anthropic: Upstream::of(
                choice,
                env,
                (
                    "ANTHROPIC_BASE_URL",
                    "ANTHROPIC_API_KEY",
                    "https://api.anthropic.com",
                ),
            )?,
        };
        let (upstream, name) = match source {
            CaptureSource::OpenAi => (&upstreams.openai, "OPENAI_API_KEY"),
            CaptureSource::Anthropic => (&upstreams.anthropic, "ANTHROPIC_API_KEY"),
            CaptureSource::Otlp | CaptureSource::Auto => return Ok(upstreams),
        };
        let needs_key = upstream.base.scheme() == "https" && upstream.key.is_none();
        if needs_key && !passed_on.iter().any(|passed| passed == name) {
            return Err(Unopened::NoKey {
                wanted: format!("set the environment variable {name}"),
            });
        }
        Ok(upstreams)
    }

    pub fn address(&self, wire: ExchangeWire, path: &str) -> Option<Url> {
        let base = &self.of(wire).base;
        let (path, query) = path
            .split_once('?')
            .map_or((path, None), |(path, query)| (path, Some(query)));
        let mut url = base.clone();
        url.set_path(&format!("{}{path}", base.path().trim_end_matches('/')));
        if query.is_some() {
            url.set_query(query);
        }
        // A path with `..` must not lead above the base.
        url.path()
            .starts_with(base.path().trim_end_matches('/'))
            .then_some(url)
    }

    /// Puts the real key in the place of the sample's. A key that the agent has itself stays.
    ///
    /// # Errors
    /// A key that no header can hold.
    pub fn authorize(
        &self,
        wire: ExchangeWire,
        key: &SampleKey,
        headers: &mut HeaderMap,
    ) -> Result<(), Unopened> {
        for name in KEY_HEADERS {
            let has_token = headers
                .get_all(&name)
                .iter()
                .any(|value| key.is_token(value));
            if !has_token {
                continue;
            }
            headers.remove(&name);
            if let Some(key) = &self.of(wire).key {
                let prefix = if name == AUTHORIZATION { "Bearer " } else { "" };
                headers.insert(name, secret_header(prefix, key)?);
            }
        }
        Ok(())
    }

    fn of(&self, wire: ExchangeWire) -> &Upstream {
        match wire {
            ExchangeWire::OpenAi => &self.openai,
            ExchangeWire::Anthropic => &self.anthropic,
        }
    }
}

impl Upstream {
    fn of(
        choice: &UpstreamChoice,
        env: &Env,
        (address, key, vendor): (&str, &str, &str),
    ) -> Result<Self, Unopened> {
        let base = match choice {
            UpstreamChoice::Stated(base) => base,
            UpstreamChoice::Usual => env.get(address).unwrap_or(vendor),
        };
        let url = versioned(base)
            .ok_or_else(|| Unopened::Unusable(format!("{base:?} is not an http address")))?;
        Ok(Self {
            base: url,
            key: env.secret(key),
        })
    }
}

/// A base address with its version; one that has a path of its own keeps it.
fn versioned(base: &str) -> Option<Url> {
    let mut url: Url = base.trim().parse().ok()?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return None;
    }
    let path = url.path().trim_end_matches('/');
    let path = if path.ends_with("/v1") || path.ends_with("/openai") {
        path.to_owned()
    } else {
        format!("{path}/v1")
    };
    url.set_path(&path);
    Some(url)
}

#[cfg(test)]
mod tests {
    use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};

    use super::{SampleKey, UpstreamChoice, Upstreams};
    use crate::live::targets::Unopened;
    use crate::model::{CaptureSource, ExchangeWire};
    use crate::world::env::Env;

    fn upstreams(variables: &[(&str, &str)], source: CaptureSource) -> Result<Upstreams, Unopened> {
        let env = variables
            .iter()
            .map(|(name, value)| (*name, *value))
            .collect::<Env>();
        Upstreams::open(&UpstreamChoice::Usual, source, &[], &env)
    }

    #[test]
    fn the_address_of_a_call_has_its_version_once() {
        for (base, path, wanted) in [
            (
                "http://h:1",
                "/chat/completions",
                "http://h:1/v1/chat/completions",
            ),
            (
                "http://h:1/v1/",
                "/chat/completions?x=1",
                "http://h:1/v1/chat/completions?x=1",
            ),
            (
                "https://h/v1beta/openai",
                "/models",
                "https://h/v1beta/openai/models",
            ),
            ("https://h/proxy", "/models", "https://h/proxy/v1/models"),
        ] {
            let all = upstreams(&[("OPENAI_BASE_URL", base)], CaptureSource::Auto)
                .ok()
                .unwrap();
            assert_eq!(
                all.address(ExchangeWire::OpenAi, path).unwrap().as_str(),
                wanted,
                "{base}"
            );
        }
        let all = upstreams(&[], CaptureSource::Auto).ok().unwrap();
        let address = all.address(ExchangeWire::Anthropic, "/messages").unwrap();
        assert_eq!(address.as_str(), "https://api.anthropic.com/v1/messages");
        assert_eq!(all.address(ExchangeWire::OpenAi, "/../../admin"), None);
        assert!(upstreams(&[("OPENAI_BASE_URL", "ftp://h")], CaptureSource::Auto).is_err());
    }

    #[test]
    fn only_the_key_of_the_sample_is_replaced_by_the_real_one() {
        let all = upstreams(&[("OPENAI_API_KEY", "real-key")], CaptureSource::OpenAi)
            .ok()
            .unwrap();
        let key = SampleKey::new(vec![]).ok().unwrap();
        let token = format!("Bearer {}", key.token());
        let authorized = |value: &str| {
            let mut headers =
                HeaderMap::from_iter([(AUTHORIZATION, HeaderValue::from_str(value).unwrap())]);
            all.authorize(ExchangeWire::OpenAi, &key, &mut headers)
                .ok()
                .unwrap();
            headers
                .get(AUTHORIZATION)
                .unwrap()
                .to_str()
                .unwrap()
                .to_owned()
        };
        assert_eq!(authorized(&token), "Bearer real-key");
        assert_eq!(authorized("Bearer own-key"), "Bearer own-key");
        let mut headers =
            HeaderMap::from_iter([(AUTHORIZATION, HeaderValue::from_str(&token).unwrap())]);
        all.authorize(ExchangeWire::Anthropic, &key, &mut headers)
            .ok()
            .unwrap();
        assert!(
            headers.is_empty(),
            "a key of one vendor never goes to the other"
        );
    }

    #[test]
    fn a_vendor_needs_a_key_and_a_server_of_ones_own_does_not() {
        assert!(matches!(
            upstreams(&[], CaptureSource::OpenAi),
            Err(Unopened::NoKey { .. })
        ));
        assert!(upstreams(&[], CaptureSource::Auto).is_ok());
        assert!(
            upstreams(
                &[("OPENAI_BASE_URL", "http://127.0.0.1:1")],
                CaptureSource::OpenAi
            )
            .is_ok()
        );
    }
}
