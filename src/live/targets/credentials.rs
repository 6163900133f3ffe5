//! AWS credentials: from the environment, a profile file, a web identity, or a container's endpoint.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use jiff::{SignedDuration, Timestamp};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Client, Method, Url};
use tokio::sync::Mutex;

use super::http_request::TargetRequest;
use super::{Timeouts, Unopened, lasting};
use crate::format::aws;
use crate::format::aws::{AwsKeys, AwsProfile, AwsProfileFile};
use crate::model::CallError;
use crate::world::env::{Env, Secret};

/// How long before they expire keys are renewed.
const EARLY: SignedDuration = SignedDuration::from_mins(5);

const TIMEOUTS: Timeouts = Timeouts {
    call: Duration::from_secs(20),
    stall: Duration::from_secs(10),
};

/// A source of keys. Temporary keys are renewed before they expire.
pub struct CredentialsSource {
    origin: CredentialsOrigin,
    client: Client,
    kept: Mutex<Option<AwsKeys>>,
}

enum CredentialsOrigin {
    Stated(AwsKeys),
    /// A token of another identity, which the token service exchanges for keys.
    WebIdentity {
        token_file: PathBuf,
        role: String,
        session: String,
        url: Url,
    },
    /// An endpoint provided by the container's host.
    Container {
        url: Url,
        token: ContainerToken,
    },
}

/// The authorization of a container's endpoint.
enum ContainerToken {
    Nothing,
    Stated(Secret),
    File(PathBuf),
}

impl CredentialsSource {
    /// The first source in AWS's own order; makes no request yet.
    ///
    /// # Errors
    /// No source exists, or one is unusable.
    pub fn find(env: &Env, client: &Client, region: &str) -> Result<Self, Unopened> {
        let stated = of_variables(env)
            .or_else(|| profile(env).keys)
            .map(CredentialsOrigin::Stated);
        let origin = match stated {
            Some(origin) => Some(origin),
            None => match web_identity(env, region)? {
                Some(origin) => Some(origin),
                None => container(env)?,
            },
        };
        let wanted = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, AWS_PROFILE with a file that contains its keys, or a web identity";
        let origin = origin.ok_or_else(|| Unopened::NoKey {
            wanted: wanted.to_owned(),
        })?;
        Ok(Self {
            origin,
            client: client.clone(),
            kept: Mutex::new(None),
        })
    }

    /// Keys that are valid for a call.
    pub async fn keys(&self) -> Result<AwsKeys, CallError> {
        if let CredentialsOrigin::Stated(keys) = &self.origin {
            return Ok(keys.clone());
        }
        // Locked during the request, so that concurrent calls request keys once.
        let mut kept = self.kept.lock().await;
        let current_time = Timestamp::try_from(SystemTime::now()).unwrap_or(Timestamp::MAX);
        let soon = current_time.saturating_add(EARLY).unwrap_or(Timestamp::MAX);
        match kept
            .as_ref()
            .filter(|keys| keys.expires.is_none_or(|end| end > soon))
        {
            Some(keys) => Ok(keys.clone()),
            None => {
                let keys = self.renewed().await.map_err(|fault| CallError {
                    what: format!("while requesting AWS credentials: {}", fault.what),
                    ..fault
                })?;
                *kept = Some(keys.clone());
                Ok(keys)
            }
        }
    }

    async fn renewed(&self) -> Result<AwsKeys, CallError> {
        let mut headers = HeaderMap::new();
        let (method, url, body, read): (_, _, _, fn(&str) -> Option<AwsKeys>) = match &self.origin {
            CredentialsOrigin::Stated(keys) => return Ok(keys.clone()),
            CredentialsOrigin::WebIdentity {
                token_file,
                role,
                session,
                url,
            } => {
                let form = HeaderValue::from_static("application/x-www-form-urlencoded");
                headers.insert(CONTENT_TYPE, form);
                (
                    Method::POST,
                    url,
                    sts_query(role, session, &content(token_file)?),
                    aws::assumed,
                )
            }
            CredentialsOrigin::Container { url, token } => {
                if let Some(token) = token.read()? {
                    let mut value = HeaderValue::from_str(token.reveal()).map_err(|_| {
                        lasting(
                            "the token contains characters that are not allowed in a header"
                                .to_owned(),
                        )
                    })?;
                    value.set_sensitive(true);
                    headers.insert(AUTHORIZATION, value);
                }
                (Method::GET, url, String::new(), aws::contained)
            }
        };
        let sending = TargetRequest {
            client: &self.client,
            method,
            url: url.clone(),
            headers,
            body,
            timeouts: TIMEOUTS,
        };
        let (_, answer) = sending.bytes().await?;
        // The answer is not quoted, because it may contain part of a key.
        read(&String::from_utf8_lossy(&answer))
            .ok_or_else(|| lasting("the answer contains no keys".to_owned()))
    }
}

impl ContainerToken {
    fn read(&self) -> Result<Option<Secret>, CallError> {
        match self {
            Self::Nothing => Ok(None),
            Self::Stated(token) => Ok(Some(token.clone())),
            Self::File(file) => content(file).map(|text| Some(Secret::new(text))),
        }
    }
}

/// The content of a token file. It is read on every use, because it is replaced from time to time.
fn content(file: &PathBuf) -> Result<String, CallError> {
    let text = fs::read_to_string(file)
        .map_err(|error| lasting(format!("the token's file cannot be read: {error}")))?;
    Ok(text.trim().to_owned())
}

fn sts_query(role: &str, session: &str, token: &str) -> String {
    let mut url = Url::parse("http://form").expect("a constant address is valid");
    url.query_pairs_mut()
        .append_pair("Action", "AssumeRoleWithWebIdentity")
        .append_pair("Version", "2011-06-15")
        .append_pair("RoleArn", role)
        .append_pair("RoleSessionName", session)
        .append_pair("WebIdentityToken", token);
    url.query().unwrap_or_default().to_owned()
}

/// The region from the environment or the profile.
pub fn region(env: &Env) -> Option<String> {
    let stated = env
        .get("AWS_REGION")
        .or_else(|| env.get("AWS_DEFAULT_REGION"));
    stated.map(str::to_owned).or_else(|| profile(env).region)
}

fn of_variables(env: &Env) -> Option<AwsKeys> {
    Some(AwsKeys {
        id: env.get("AWS_ACCESS_KEY_ID")?.to_owned(),
        secret: env.get("AWS_SECRET_ACCESS_KEY")?.to_owned(),
        session: env.get("AWS_SESSION_TOKEN").map(str::to_owned),
        expires: None,
    })
}

/// The profile from the credentials file and the config file; keys of the credentials file come first.
fn profile(env: &Env) -> AwsProfile {
    let first = profile_in(
        env,
        "AWS_SHARED_CREDENTIALS_FILE",
        "credentials",
        AwsProfileFile::Credentials,
    );
    let second = profile_in(env, "AWS_CONFIG_FILE", "config", AwsProfileFile::Config);
    AwsProfile {
        keys: first.keys.or(second.keys),
        region: second.region.or(first.region),
    }
}

/// The chosen profile in the file that the variable names, or in that of the home folder; empty without a readable file.
fn profile_in(env: &Env, variable: &str, usual: &str, file: AwsProfileFile) -> AwsProfile {
    let path = match (env.get(variable), env.get("HOME")) {
        (Some(path), _) => PathBuf::from(path),
        (None, Some(home)) => PathBuf::from(home).join(".aws").join(usual),
        (None, None) => return AwsProfile::default(),
    };
    let Ok(text) = fs::read_to_string(path) else {
        return AwsProfile::default();
    };
    aws::profile(&text, file, env.get("AWS_PROFILE").unwrap_or("default"))
}

fn web_identity(env: &Env, region: &str) -> Result<Option<CredentialsOrigin>, Unopened> {
    let (Some(file), Some(role)) = (
        env.get("AWS_WEB_IDENTITY_TOKEN_FILE"),
        env.get("AWS_ROLE_ARN"),
    ) else {
        return Ok(None);
    };
    let domain = if region.starts_with("cn-") {
        "amazonaws.com.cn"
    } else {
        "amazonaws.com"
    };
    let stated = env
        .get("AWS_ENDPOINT_URL_STS")
        .or_else(|| env.get("AWS_ENDPOINT_URL"));
    let address = stated.map_or_else(|| format!("https://sts.{region}.{domain}/"), str::to_owned);
    let url = address.parse().map_err(|_| {
        Unopened::Unusable("the address of the token service is not valid".to_owned())
    })?;
    let session = env
        .get("AWS_ROLE_SESSION_NAME")
        .unwrap_or("goldgate")
        .to_owned();
    Ok(Some(CredentialsOrigin::WebIdentity {
        token_file: file.into(),
        role: role.to_owned(),
        session,
        url,
    }))
}

fn container(env: &Env) -> Result<Option<CredentialsOrigin>, Unopened> {
    let relative = env.get("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
    let address = match (relative, env.get("AWS_CONTAINER_CREDENTIALS_FULL_URI")) {
        (Some(path), _) => format!("http://169.254.170.2{path}"),
        (None, Some(address)) => address.to_owned(),
        (None, None) => return Ok(None),
    };
    let Some(url) = address.parse().ok().filter(is_trusted) else {
        let message =
            "the address of the container's credentials is neither https nor on this machine";
        return Err(Unopened::Unusable(message.to_owned()));
    };
    let file = env
        .get("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE")
        .map(|file| ContainerToken::File(file.into()));
    let token = file.or_else(|| {
        env.secret("AWS_CONTAINER_AUTHORIZATION_TOKEN")
            .map(ContainerToken::Stated)
    });
    Ok(Some(CredentialsOrigin::Container {
        url,
        token: token.unwrap_or(ContainerToken::Nothing),
    }))
}

/// AWS's own rule: keys come over TLS, from this machine, or from the two link-local addresses for containers.
fn is_trusted(url: &Url) -> bool {
    let known = [
        "127.0.0.1",
        "localhost",
        "[::1]",
        "169.254.170.2",
        "169.254.170.23",
        "[fd00:ec2::23]",
    ];
    url.scheme() == "https"
        || (url.scheme() == "http" && url.host_str().is_some_and(|host| known.contains(&host)))
}
