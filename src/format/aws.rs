//! Reads AWS keys from profile files, from STS answers and from container endpoints.

use std::fmt;

use jiff::Timestamp;
use quick_xml::Reader;
use quick_xml::events::Event;
use serde::Deserialize;

/// AWS keys that sign requests. `Debug` hides them.
#[derive(Clone, PartialEq, Eq)]
pub struct AwsKeys {
    pub id: String,
    pub secret: String,
    /// The session token of temporary keys.
    pub session: Option<String>,
    /// Expiry time of temporary keys.
    pub expires: Option<Timestamp>,
}

impl fmt::Debug for AwsKeys {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Keys(***)")
    }
}

/// The profile files; they name their sections differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AwsProfileFile {
    /// `~/.aws/credentials`: `[name]`.
    Credentials,
    /// `~/.aws/config`: `[profile name]`, and `[default]`.
    Config,
}

/// A profile of such a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AwsProfile {
    /// Its keys, if both halves are present.
    pub keys: Option<AwsKeys>,
    pub region: Option<String>,
}

/// Reads a profile; missing values are empty.
pub fn profile(text: &str, file: AwsProfileFile, name: &str) -> AwsProfile {
    let mut inside = false;
    let (mut id, mut secret, mut session, mut region) = (None, None, None, None);
    for line in text.lines() {
        let line = line.trim();
        if let Some(section) = line.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            inside = is_of(section.0.trim(), file, name);
        } else if let Some((key, value)) = line
            .split_once('=')
            .filter(|_| inside && !line.starts_with(['#', ';']))
        {
            let value = Some(value.trim().to_owned()).filter(|value| !value.is_empty());
            match key.trim() {
                "aws_access_key_id" => id = value,
                "aws_secret_access_key" => secret = value,
                "aws_session_token" => session = value,
                "region" => region = value,
                _ => {}
            }
        }
    }
    let keys = id.zip(secret).map(|(id, secret)| AwsKeys {
        id,
        secret,
        session,
        expires: None,
    });
    AwsProfile { keys, region }
}

fn is_of(section: &str, file: AwsProfileFile, name: &str) -> bool {
    match file {
        AwsProfileFile::Credentials => section == name,
        AwsProfileFile::Config => {
            let prefixed = section
                .strip_prefix("profile")
                .filter(|rest| rest.starts_with([' ', '\t']));
            prefixed.map(str::trim) == Some(name) || (section == name && name == "default")
        }
    }
}

/// Reads the keys from the XML answer to `AssumeRoleWithWebIdentity`.
pub fn assumed(xml: &str) -> Option<AwsKeys> {
    let (id, secret) = (
        element(xml, b"AccessKeyId")?,
        element(xml, b"SecretAccessKey")?,
    );
    let expires = element(xml, b"Expiration").and_then(|text| text.parse().ok());
    Some(AwsKeys {
        id,
        secret,
        session: element(xml, b"SessionToken"),
        expires,
    })
}

/// The text of the first element with this name. Keys and tokens contain no entities.
pub fn element(xml: &str, name: &[u8]) -> Option<String> {
    let mut reader = Reader::from_str(xml);
    let mut inside = false;
    let mut text = String::new();
    loop {
        match reader.read_event().ok()? {
            Event::Start(tag) => inside = tag.local_name().as_ref() == name,
            Event::Text(content) if inside => text.push_str(std::str::from_utf8(&content).ok()?),
            Event::End(_) if inside => {
                return Some(text.trim().to_owned()).filter(|text| !text.is_empty());
            }
            Event::Eof => return None,
            _ => {}
        }
    }
}

/// Reads the keys from the JSON answer of a container's endpoint.
pub fn contained(json: &str) -> Option<AwsKeys> {
    #[derive(Deserialize)]
    #[serde(rename_all = "PascalCase")]
    struct CredentialsForm {
        access_key_id: String,
        secret_access_key: String,
        token: Option<String>,
        expiration: Option<String>,
    }
    let CredentialsForm {
        access_key_id,
        secret_access_key,
        token,
        expiration,
    } = serde_json::from_str(json).ok()?;
    let expires = expiration.and_then(|text| text.parse().ok());
    Some(AwsKeys {
        id: access_key_id,
        secret: secret_access_key,
        session: token,
        expires,
    })
}

#[cfg(test)]
mod tests {
    use super::{AwsProfile, AwsProfileFile, assumed, contained, profile};

    const FILE: &str = "# a comment\n[default]\naws_access_key_id = AK0\naws_secret_access_key=S0=/+\n\n[ work ]\n; no\n\
        aws_access_key_id=AK1\naws_secret_access_key = S1\naws_session_token = T1\nregion = eu-west-1\n[half]\naws_access_key_id = AK2\n\
        [profile cfg]\nregion=us-west-2\n";

    #[test]
    fn a_profile_is_found_by_its_name() {
        let found = |file, name| {
            let AwsProfile { keys, region } = profile(FILE, file, name);
            (
                keys.map(|keys| (keys.id, keys.secret, keys.session)),
                region,
            )
        };
        let own = str::to_owned;
        let default = Some((own("AK0"), own("S0=/+"), None));
        let work = Some((own("AK1"), own("S1"), Some(own("T1"))));
        assert_eq!(
            found(AwsProfileFile::Credentials, "default"),
            (default.clone(), None)
        );
        assert_eq!(found(AwsProfileFile::Config, "default"), (default, None));
        assert_eq!(
            found(AwsProfileFile::Credentials, "work"),
            (work, Some(own("eu-west-1")))
        );
        assert_eq!(found(AwsProfileFile::Config, "work"), (None, None));
        assert_eq!(found(AwsProfileFile::Credentials, "half"), (None, None));
        assert_eq!(
            found(AwsProfileFile::Config, "cfg"),
            (None, Some(own("us-west-2")))
        );
        assert_eq!(found(AwsProfileFile::Credentials, "none"), (None, None));
    }

    #[test]
    fn temporary_keys_have_their_expiry() {
        let xml = "<?xml version=\"1.0\"?><R xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\"><AssumeRoleWithWebIdentityResult>\n\
            <AssumedRoleUser><Arn>a</Arn></AssumedRoleUser><Credentials><SessionToken>\n T+/= \n</SessionToken><SecretAccessKey>S</SecretAccessKey>\
            <Expiration>2026-11-21T15:00:00Z</Expiration><AccessKeyId>ASIA1</AccessKeyId></Credentials></AssumeRoleWithWebIdentityResult></R>";
        let json = r#"{"AccessKeyId":"ASIA1","SecretAccessKey":"S","Token":"T+/=","Expiration":"2026-11-21T15:00:00Z","RoleArn":"a"}"#;
        let keys = assumed(xml).unwrap();
        assert_eq!(
            (
                keys.id.as_str(),
                keys.secret.as_str(),
                keys.session.as_deref()
            ),
            ("ASIA1", "S", Some("T+/="))
        );
        assert_eq!(keys.expires.map(|end| end.as_second()), Some(1_795_273_200));
        assert_eq!(contained(json), Some(keys.clone()));
        assert!(!format!("{keys:?}").contains("ASIA1"));
        for junk in [
            "",
            "<html>",
            "{}",
            "<a><AccessKeyId></AccessKeyId></a>",
            "<a><AccessKeyId>x</b>",
        ] {
            assert_eq!((assumed(junk), contained(junk)), (None, None), "{junk}");
        }
    }
}
