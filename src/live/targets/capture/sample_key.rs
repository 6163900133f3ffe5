//! The key of one sample: only the program that was started for it knows the key, so that nobody else on this machine can use the endpoint.

use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};

use crate::live::targets::lasting;
use crate::model::CallError;
use crate::world::web::random_bytes;

/// Where the clients of vendors send a key.
pub const KEY_HEADERS: [HeaderName; 4] = [
    AUTHORIZATION,
    HeaderName::from_static("x-api-key"),
    HeaderName::from_static("api-key"),
    GOOGLE_HEADER,
];

const GOOGLE_HEADER: HeaderName = HeaderName::from_static("x-goog-api-key");

/// The parameter that means the same as Google's header.
const PARAMETER: &str = "key";

/// Bytes of a token.
const LENGTH: usize = 16;

/// What a request to the endpoint has to send.
#[derive(Clone)]
pub struct SampleKey {
    /// What the program gets as its key: its client refuses to start without one, and the endpoint replaces it by the real one.
    token: String,
    /// Keys that the program got from the environment, which it sends instead.
    own_keys: Vec<String>,
}

impl SampleKey {
    /// A new random key, in the form of a common one: no text that has it is recorded with it.
    ///
    /// # Errors
    /// The system gives no random bytes.
    pub fn new(own_keys: Vec<String>) -> Result<Self, CallError> {
        let bytes = random_bytes::<LENGTH>().map_err(|why| lasting(format!("{why:#}")))?;
        Ok(Self {
            token: format!("sk-goldgate-{}", hex::encode(bytes)),
            own_keys,
        })
    }

    pub fn token(&self) -> &str {
        &self.token
    }

    /// Takes the key out of a request's query, and puts it into a header that means the same: recordings have the query.
    pub fn move_to_header(&self, target: &str, headers: &mut HeaderMap) -> String {
        let Some((path, query)) = target.split_once('?') else {
            return target.to_owned();
        };
        let mut kept = Vec::new();
        for pair in query.split('&') {
            let key = pair
                .strip_prefix(PARAMETER)
                .and_then(|rest| rest.strip_prefix('='))
                .filter(|key| self.is_accepted(key));
            match key.and_then(|key| HeaderValue::from_str(key).ok()) {
                Some(key) => drop(headers.insert(GOOGLE_HEADER, key)),
                None => kept.push(pair),
            }
        }
        if kept.is_empty() {
            path.to_owned()
        } else {
            format!("{path}?{}", kept.join("&"))
        }
    }

    /// Whether a request has the key.
    pub fn is_in(&self, headers: &HeaderMap) -> bool {
        KEY_HEADERS
            .iter()
            .flat_map(|name| headers.get_all(name))
            .filter_map(|value| value.to_str().ok())
            .any(|value| self.is_accepted(sent_key(value)))
    }

    /// Whether a header has the token, which no server but the endpoint knows.
    pub fn is_token(&self, value: &HeaderValue) -> bool {
        value
            .to_str()
            .is_ok_and(|value| sent_key(value) == self.token)
    }

    fn is_accepted(&self, key: &str) -> bool {
        key == self.token || self.own_keys.iter().any(|own_key| own_key == key)
    }
}

/// The key in a header's value.
fn sent_key(value: &str) -> &str {
    match value.split_once(' ') {
        Some((scheme, key)) if scheme.eq_ignore_ascii_case("bearer") => key.trim(),
        Some(_) | None => value,
    }
}

#[cfg(test)]
mod tests {
    use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

    use super::SampleKey;

    fn headers(name: &'static str, value: &str) -> HeaderMap {
        HeaderMap::from_iter([(
            HeaderName::from_static(name),
            HeaderValue::from_str(value).unwrap(),
        )])
    }

    #[test]
    fn a_key_is_accepted_in_every_form_of_the_vendors() {
        let key = SampleKey::new(vec!["own-key".to_owned()]).ok().unwrap();
        let token = key.token();
        assert_ne!(token, SampleKey::new(vec![]).ok().unwrap().token());
        for (name, value, expected) in [
            ("authorization", format!("Bearer {token}"), true),
            ("authorization", format!("bearer {token}"), true),
            ("authorization", "Bearer own-key".to_owned(), true),
            ("x-api-key", token.to_owned(), true),
            ("api-key", token.to_owned(), true),
            ("x-goog-api-key", token.to_owned(), true),
            ("x-other", token.to_owned(), false),
            ("authorization", format!("Bearer {token}0"), false),
            ("authorization", "Bearer ".to_owned(), false),
            ("x-api-key", "goldgate-placeholder".to_owned(), false),
        ] {
            assert_eq!(key.is_in(&headers(name, &value)), expected, "{name}");
        }
        assert!(!key.is_in(&HeaderMap::new()));
    }

    #[test]
    fn a_key_in_the_query_becomes_a_header() {
        let key = SampleKey::new(vec![]).ok().unwrap();
        let token = key.token();
        for (target, expected, is_accepted) in [
            (
                format!("/openai/v1/models?key={token}"),
                "/openai/v1/models",
                true,
            ),
            (format!("/a?x=1&key={token}&y"), "/a?x=1&y", true),
            ("/a?key=other".to_owned(), "/a?key=other", false),
            ("/a".to_owned(), "/a", false),
        ] {
            let mut headers = HeaderMap::new();
            assert_eq!(key.move_to_header(&target, &mut headers), expected);
            assert_eq!(key.is_in(&headers), is_accepted, "{target}");
        }
    }
}
