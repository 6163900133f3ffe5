//! Bedrock: the address of a model, and the signature of a call (SigV4).

use std::fmt::Display;
use std::time::SystemTime;

use aws_credential_types::Credentials;
use aws_sigv4::http_request::{SignableBody, SignableRequest, SigningSettings, sign};
use aws_sigv4::sign::v4::SigningParams;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Url};

use super::credentials::CredentialsSource;
use super::secret_header::secret_header;
use super::{Unopened, lasting};
use crate::format::aws::AwsKeys;
use crate::model::{CallError, Provider};
use crate::text::encoded_segment;
use crate::world::env::Env;

/// A Bedrock model with its address and credentials.
pub struct Bedrock {
    pub url: Url,
    access: Access,
}

enum Access {
    /// A Bedrock API key, sent in a header.
    Bearer(HeaderValue),
    /// AWS keys, used to sign.
    Signed {
        region: String,
        source: Box<CredentialsSource>,
    },
}

impl Bedrock {
    /// Finds region, address and credentials; makes no request yet.
    pub fn of(provider: &Provider, client: &Client, env: &Env) -> Result<Self, Unopened> {
        let region = provider
            .region
            .clone()
            .or_else(|| super::credentials::region(env))
            .ok_or_else(|| {
                Unopened::Unusable(
                    "bedrock needs a region: set region in the target, or AWS_REGION".to_owned(),
                )
            })?;
        let stated = provider
            .base_url
            .as_deref()
            .or_else(|| env.get("AWS_ENDPOINT_URL_BEDROCK_RUNTIME"));
        let base = stated
            .or_else(|| env.get("AWS_ENDPOINT_URL"))
            .map_or_else(|| host(&region), str::to_owned);
        let url = address(&base, &provider.model).ok_or_else(|| {
            Unopened::Unusable(format!(
                "the address of {} is not an http address",
                provider.model
            ))
        })?;
        let variable = provider
            .api_key_env
            .as_deref()
            .unwrap_or("AWS_BEARER_TOKEN_BEDROCK");
        let access = match (env.secret(variable), &provider.api_key_env) {
            (Some(key), _) => Access::Bearer(secret_header("Bearer ", &key)?),
            (None, Some(name)) => {
                return Err(Unopened::NoKey {
                    wanted: format!("set the environment variable {name}"),
                });
            }
            (None, None) => Access::Signed {
                source: Box::new(CredentialsSource::find(env, client, &region)?),
                region,
            },
        };
        Ok(Self { url, access })
    }

    /// The headers of a call with this body.
    pub async fn headers(&self, body: &str) -> Result<HeaderMap, CallError> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        match &self.access {
            Access::Bearer(value) => {
                headers.insert(AUTHORIZATION, value.clone());
            }
            Access::Signed { region, source } => {
                let keys = source.keys().await?;
                let call = SignedCall {
                    method: "POST",
                    url: &self.url,
                    headers: &[("content-type", "application/json")],
                    body,
                };
                headers.extend(signature(
                    &call,
                    &keys,
                    region,
                    "bedrock",
                    SystemTime::now(),
                )?);
            }
        }
        Ok(headers)
    }
}

/// The vendor's own host in a region.
fn host(region: &str) -> String {
    let domain = if region.starts_with("cn-") {
        "amazonaws.com.cn"
    } else {
        "amazonaws.com"
    };
    format!("https://bedrock-runtime.{region}.{domain}")
}

fn address(base: &str, model: &str) -> Option<Url> {
    // Model names contain colons, and as an ARN slashes.
    let path = format!(
        "{}/model/{}/converse",
        base.trim().trim_end_matches('/'),
        encoded_segment(model)
    );
    path.parse()
        .ok()
        .filter(|url: &Url| matches!(url.scheme(), "http" | "https") && url.host_str().is_some())
}

/// The parts of a request that are signed.
struct SignedCall<'a> {
    method: &'a str,
    url: &'a Url,
    headers: &'a [(&'a str, &'a str)],
    body: &'a str,
}

fn signature(
    call: &SignedCall<'_>,
    keys: &AwsKeys,
    region: &str,
    service: &str,
    at: SystemTime,
) -> Result<Vec<(HeaderName, HeaderValue)>, CallError> {
    let identity = Credentials::new(
        &keys.id,
        &keys.secret,
        keys.session.clone(),
        None,
        "goldgate",
    )
    .into();
    let parameters = SigningParams::builder()
        .identity(&identity)
        .region(region)
        .name(service)
        .time(at)
        .settings(SigningSettings::default())
        .build()
        .map_err(not_signed)?
        .into();
    let headers = call.headers.iter().copied();
    let body = SignableBody::Bytes(call.body.as_bytes());
    let request =
        SignableRequest::new(call.method, call.url.as_str(), headers, body).map_err(not_signed)?;
    let (instructions, _) = sign(request, &parameters).map_err(not_signed)?.into_parts();
    let (signed, _) = instructions.into_parts();
    let signed = signed.into_iter().map(|header| {
        let mut value = HeaderValue::from_str(header.value()).map_err(not_signed)?;
        value.set_sensitive(true);
        Ok((HeaderName::from_static(header.name()), value))
    });
    signed.collect()
}

fn not_signed(error: impl Display) -> CallError {
    lasting(format!("the call cannot be signed: {error}"))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::{SignedCall, address, host, signature};
    use crate::format::aws::AwsKeys;

    #[test]
    fn the_model_name_is_percent_encoded_in_the_path() {
        for (base, model, wanted) in [
            (
                "http://h",
                "acme.large-v2:0",
                "http://h/model/acme.large-v2%3A0/converse",
            ),
            ("http://h/p/", "a b", "http://h/p/model/a%20b/converse"),
            (
                "http://h",
                "arn:aws:bedrock:x:1:p/y",
                "http://h/model/arn%3Aaws%3Abedrock%3Ax%3A1%3Ap%2Fy/converse",
            ),
        ] {
            assert_eq!(address(base, model).unwrap().as_str(), wanted);
        }
        assert_eq!(address("ftp://h", "m"), None);
        assert_eq!(
            host("cn-north-1"),
            "https://bedrock-runtime.cn-north-1.amazonaws.com.cn"
        );
    }

    /// AWS's published examples (the Signature Version 4 test suite and the guide's sample request).
    #[test]
    fn signatures_are_those_of_the_published_examples() {
        let keys = AwsKeys {
            id: "AKIDEXAMPLE".to_owned(),
            secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY".to_owned(),
            session: None,
            expires: None,
        };
        let at = UNIX_EPOCH + Duration::from_secs(1_440_938_160);
        let form: &[(&str, &str)] = &[(
            "content-type",
            "application/x-www-form-urlencoded; charset=utf-8",
        )];
        let posted: &[(&str, &str)] = &[("content-type", "application/x-www-form-urlencoded")];
        for (method, url, headers, body, service, wanted) in [
            (
                "GET",
                "https://example.amazonaws.com/",
                [].as_slice(),
                "",
                "service",
                "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
            ),
            (
                "POST",
                "https://example.amazonaws.com/",
                &[],
                "",
                "service",
                "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b",
            ),
            (
                "POST",
                "https://example.amazonaws.com/",
                posted,
                "Param1=value1",
                "service",
                "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a",
            ),
            (
                "GET",
                "https://example.amazonaws.com/?Param1=value1&Param2=value2",
                &[],
                "",
                "service",
                "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
            ),
            (
                "GET",
                "https://iam.amazonaws.com/?Action=ListUsers&Version=2010-05-08",
                form,
                "",
                "iam",
                "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7",
            ),
        ] {
            let call = SignedCall {
                method,
                url: &url.parse().unwrap(),
                headers,
                body,
            };
            let signed = signature(&call, &keys, "us-east-1", service, at).unwrap();
            let (_, value) = signed
                .iter()
                .find(|(name, _)| name == "authorization")
                .unwrap();
            let found = value.to_str().unwrap();
            assert!(
                found.ends_with(&format!("Signature={wanted}")),
                "{url} {body}: {found}"
            );
        }
    }
}
