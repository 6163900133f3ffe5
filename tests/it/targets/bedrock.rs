//! Bedrock: a server that checks every signature itself, and every place where keys come from.

use std::fs;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use goldgate::live::targets::{ChatModel, Unopened};
use goldgate::model::{
    AnswerForm, Conversation, ModelTurn, Provider, Retry, StopReason, TokenUsage, Wire,
};
use libtest_mimic::Trial;
use serde_json::json;
use sha2::{Digest, Sha256};

use super::chat::{spoken, with_tools};
use super::standin::{Received, Reply, Standin, json, typed};
use super::{PATIENCE, conversation, env, provider, wait};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "a turn over Converse is asked, signed and understood",
            signed,
        ),
        trial("an answer in a form is a forced tool over Converse", form),
        trial("tools go to and fro over Converse", tools),
        trial(
            "a signature by a wrong key is refused and never tried again",
            wrong_key,
        ),
        trial("keys are found in the profile's file", profiles),
        trial(
            "keys come from a web identity and are renewed before they end",
            web_identity,
        ),
        trial(
            "keys come from a container's endpoint with its token",
            container,
        ),
        trial("a key of Bedrock's own needs no signature", bearer),
        trial(
            "missing credentials and a missing region are told before a call",
            missing,
        ),
    ]
}

fn sha256(bytes: &[u8]) -> Vec<u8> {
    Sha256::digest(bytes).to_vec()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// HMAC by its definition (RFC 2104), for keys of up to 64 bytes.
fn hmac(key: &[u8], text: &[u8]) -> Vec<u8> {
    let mut block = [0; 64];
    block[..key.len()].copy_from_slice(key);
    let inner: Vec<u8> = block
        .iter()
        .map(|byte| byte ^ 0x36)
        .chain(text.iter().copied())
        .collect();
    let outer: Vec<u8> = block
        .iter()
        .map(|byte| byte ^ 0x5c)
        .chain(sha256(&inner))
        .collect();
    sha256(&outer)
}

/// Checks a signature as AWS describes it, and names the key's id; the path is encoded once more, since it comes encoded.
fn checked(received: &Received, secret: &str) -> Option<String> {
    let authorization = received
        .header("authorization")?
        .strip_prefix("AWS4-HMAC-SHA256 ")?;
    let part = |name: &str| {
        authorization.split(", ").find_map(|part| {
            part.strip_prefix(name)?
                .strip_prefix('=')
                .map(str::to_owned)
        })
    };
    let (credential, names, signature) = (
        part("Credential")?,
        part("SignedHeaders")?,
        part("Signature")?,
    );
    let (id, scope) = credential.split_once('/')?;
    let at = received.header("x-amz-date")?;
    let headers: String = names
        .split(';')
        .map(|name| format!("{name}:{}\n", received.header(name).unwrap().trim()))
        .collect();
    assert!(
        names.contains("host") && names.contains("x-amz-date"),
        "{names}"
    );
    assert_eq!(
        names.contains("x-amz-security-token"),
        received.header("x-amz-security-token").is_some()
    );
    let path = received.target.replace('%', "%25");
    let hash = hex(&sha256(received.text.as_bytes()));
    let canonical = format!("{}\n{path}\n\n{headers}\n{names}\n{hash}", received.method);
    let text = format!(
        "AWS4-HMAC-SHA256\n{at}\n{scope}\n{}",
        hex(&sha256(canonical.as_bytes()))
    );
    let key = scope
        .split('/')
        .fold(format!("AWS4{secret}").into_bytes(), |key, part| {
            hmac(&key, part.as_bytes())
        });
    assert!(
        scope.ends_with("/eu-west-1/bedrock/aws4_request") && at.starts_with(&scope[..8]),
        "{scope}"
    );
    (hex(&hmac(&key, text.as_bytes())) == signature).then(|| id.to_owned())
}

/// A server that answers calls signed with this secret, and refuses others.
fn guarded(secret: &'static str, answer: serde_json::Value) -> (Standin, Arc<Mutex<Vec<String>>>) {
    let ids = Arc::new(Mutex::new(Vec::new()));
    let kept = ids.clone();
    let server = Standin::new(move |received| match checked(received, secret) {
        Some(id) => {
            kept.lock().unwrap().push(id);
            json(&answer)
        }
        None => typed(
            403,
            "application/json",
            "{\"message\":\"The request signature does not match.\"}",
        ),
    });
    (server, ids)
}

fn model(server: &Standin) -> Provider {
    let model = "acme.large-20261121-v2:0".to_owned();
    Provider {
        model,
        region: Some("eu-west-1".to_owned()),
        ..provider(Wire::Bedrock, Some(server.address()))
    }
}

const KEYS: [(&str, &str); 3] = [
    ("AWS_ACCESS_KEY_ID", "AKIAENV"),
    ("AWS_SECRET_ACCESS_KEY", "secret-env"),
    ("AWS_SESSION_TOKEN", "token-env"),
];

fn asked(conversation: &Conversation, answer: serde_json::Value) -> (Received, ModelTurn) {
    let (server, _) = guarded("secret-env", answer);
    let chat = ChatModel::open(&model(&server), PATIENCE, &env(&KEYS)).unwrap();
    let turn = wait(chat.turn(conversation)).unwrap();
    (server.only(), turn)
}

fn signed() {
    let (received, turn) = asked(&conversation(), spoken(Wire::Bedrock));
    assert_eq!(
        received.target,
        "/model/acme.large-20261121-v2%3A0/converse"
    );
    assert_eq!(received.header("x-amz-security-token"), Some("token-env"));
    let wanted = json!({ "system": [{ "text": "Be brief." }], "inferenceConfig": { "maxTokens": 64, "temperature": 0.5 },
        "messages": [{ "role": "user", "content": [{ "text": "Who are you?" }] }] });
    assert_eq!(received.body, wanted);
    let spent = TokenUsage {
        input: 20,
        cached_input: 8,
        output: 3,
    };
    let wanted = ModelTurn {
        text: "A model.".to_owned(),
        calls: Vec::new(),
        stop: StopReason::End,
        spent,
        model: None,
    };
    assert_eq!(turn, wanted);
}

fn form() {
    let schema = json!({ "type": "object", "properties": { "n": { "type": "integer" } } });
    let form = AnswerForm {
        name: "answer",
        schema: schema.clone(),
    };
    let mut answer = spoken(Wire::Bedrock);
    answer["stopReason"] = json!("tool_use");
    answer["output"]["message"]["content"] =
        json!([{ "toolUse": { "toolUseId": "t", "name": "answer", "input": { "n": 1 } } }]);
    let (received, turn) = asked(
        &Conversation {
            answer: Some(form),
            ..conversation()
        },
        answer,
    );
    let tools = &received.body["toolConfig"];
    assert_eq!(tools["toolChoice"], json!({ "tool": { "name": "answer" } }));
    assert_eq!(
        tools["tools"][0]["toolSpec"]["inputSchema"],
        json!({ "json": schema })
    );
    assert_eq!((turn.text.as_str(), turn.calls.len()), ("{\"n\":1}", 0));
}

fn tools() {
    let mut answer = spoken(Wire::Bedrock);
    answer["stopReason"] = json!("tool_use");
    answer["output"]["message"]["content"] = json!([{ "text": "So." }, { "toolUse": { "toolUseId": "c3", "name": "look_up", "input": { "term": "x" } } }]);
    let (received, turn) = asked(&with_tools(), answer);
    let wanted = json!([
        { "role": "user", "content": [{ "text": "What is a lien?" }] },
        { "role": "assistant", "content": [
            { "toolUse": { "toolUseId": "c1", "name": "look_up", "input": { "term": "lien" } } },
            { "toolUse": { "toolUseId": "c2", "name": "look_up", "input": { "arguments": "{\"term\":" } } } ] },
        { "role": "user", "content": [
            { "toolResult": { "toolUseId": "c1", "content": [{ "text": "{\"found\":2}" }], "status": "success" } },
            { "toolResult": { "toolUseId": "c2", "content": [{ "text": "no JSON" }], "status": "error" } } ] },
    ]);
    assert_eq!(received.body["messages"], wanted);
    assert_eq!(received.body["toolConfig"].get("toolChoice"), None);
    assert_eq!(
        (turn.text.as_str(), turn.calls[0].id.as_str()),
        ("So.", "c3")
    );
}

fn wrong_key() {
    let (server, _) = guarded("another-secret", spoken(Wire::Bedrock));
    let chat = ChatModel::open(&model(&server), PATIENCE, &env(&KEYS)).unwrap();
    let fault = wait(chat.turn(&conversation())).unwrap_err();
    assert_eq!(
        fault.what,
        "HTTP 403: The request signature does not match."
    );
    assert_eq!(fault.retry, Retry::Never);
    let busy = Standin::always(Reply::Whole(
        429,
        vec![("x-amzn-errortype", "ThrottlingException".to_owned())],
        "{\"message\":\"slow\"}".to_owned(),
    ));
    let fault = wait(
        ChatModel::open(&model(&busy), PATIENCE, &env(&KEYS))
            .unwrap()
            .turn(&conversation()),
    )
    .unwrap_err();
    assert_eq!(
        (fault.what.as_str(), fault.retry),
        ("HTTP 429: slow", Retry::Later { after: None })
    );
}

fn profiles() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("credentials");
    fs::write(&file, "[default]\naws_access_key_id=AKIAFILE\naws_secret_access_key=secret-file\n[work]\naws_access_key_id = AKIAWORK\naws_secret_access_key = secret-work\n").unwrap();
    let config = folder.path().join("config");
    fs::write(&config, "[profile work]\nregion = eu-west-1\n").unwrap();
    for (profile, secret, id) in [
        (None, "secret-file", "AKIAFILE"),
        (Some("work"), "secret-work", "AKIAWORK"),
    ] {
        let (server, ids) = guarded(secret, spoken(Wire::Bedrock));
        let mut variables = vec![
            ("AWS_SHARED_CREDENTIALS_FILE", file.to_str().unwrap()),
            ("AWS_CONFIG_FILE", config.to_str().unwrap()),
        ];
        variables.extend(profile.map(|profile| ("AWS_PROFILE", profile)));
        let mut model = model(&server);
        if profile.is_some() {
            model.region = None;
        }
        wait(
            ChatModel::open(&model, PATIENCE, &env(&variables))
                .unwrap()
                .turn(&conversation()),
        )
        .unwrap();
        assert_eq!(*ids.lock().unwrap(), [id]);
    }
}

/// What a token service says: keys that end in so many seconds.
fn keys_for(seconds: i64) -> (String, String) {
    let end = jiff::Timestamp::now() + Duration::from_secs(seconds.unsigned_abs());
    let end = end.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    let xml = format!(
        "<AssumeRoleWithWebIdentityResponse xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\"><AssumeRoleWithWebIdentityResult><Credentials>\
         <AccessKeyId>ASIASTS</AccessKeyId><SecretAccessKey>secret-sts</SecretAccessKey><SessionToken>token-sts</SessionToken>\
         <Expiration>{end}</Expiration></Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>"
    );
    let json = json!({ "AccessKeyId": "ASIASTS", "SecretAccessKey": "secret-sts", "Token": "token-sts", "Expiration": end });
    (xml, json.to_string())
}

fn web_identity() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("token");
    fs::write(&file, "header.payload+/=\n").unwrap();
    for (seconds, asked) in [(3600, 1), (60, 3)] {
        let (server, ids) = guarded("secret-sts", spoken(Wire::Bedrock));
        let service = Standin::always(typed(200, "text/xml", &keys_for(seconds).0));
        let address = service.address();
        let variables = env(&[
            ("AWS_WEB_IDENTITY_TOKEN_FILE", file.to_str().unwrap()),
            ("AWS_ROLE_ARN", "arn:aws:iam::1:role/gate"),
            ("AWS_ENDPOINT_URL_STS", &address),
        ]);
        let chat = ChatModel::open(&model(&server), PATIENCE, &variables).unwrap();
        wait(async {
            for _ in 0..3 {
                chat.turn(&conversation()).await.unwrap();
            }
        });
        assert_eq!(*ids.lock().unwrap(), ["ASIASTS"; 3]);
        let received = service.received();
        assert_eq!(received.len(), asked, "keys that end in {seconds} s");
        let wanted = "Action=AssumeRoleWithWebIdentity&Version=2011-06-15&RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fgate&\
            RoleSessionName=goldgate&WebIdentityToken=header.payload%2B%2F%3D";
        assert_eq!(
            (received[0].method.as_str(), received[0].text.as_str()),
            ("POST", wanted)
        );
        assert_eq!(
            received[0].header("content-type"),
            Some("application/x-www-form-urlencoded")
        );
    }
}

fn container() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("token");
    fs::write(&file, "token-in-file\n").unwrap();
    let (server, ids) = guarded("secret-sts", spoken(Wire::Bedrock));
    let endpoint = Standin::new(|received| match received.header("authorization") {
        Some("token-in-file" | "token-stated") => typed(200, "application/json", &keys_for(3600).1),
        _ => typed(401, "application/json", "{\"message\":\"no token\"}"),
    });
    let address = format!("{}/keys", endpoint.address());
    let base = ("AWS_CONTAINER_CREDENTIALS_FULL_URI", address.as_str());
    let open = |more: (&str, &str)| {
        ChatModel::open(&model(&server), PATIENCE, &env(&[base, more])).unwrap()
    };
    let path = file.to_str().unwrap();
    wait(open(("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", path)).turn(&conversation())).unwrap();
    wait(open(("AWS_CONTAINER_AUTHORIZATION_TOKEN", "token-stated")).turn(&conversation()))
        .unwrap();
    assert_eq!(*ids.lock().unwrap(), ["ASIASTS"; 2]);
    assert_eq!(
        (
            endpoint.received()[0].method.as_str(),
            endpoint.received()[0].target.as_str()
        ),
        ("GET", "/keys")
    );
    let fault =
        wait(open(("AWS_CONTAINER_AUTHORIZATION_TOKEN", "token-wrong")).turn(&conversation()))
            .unwrap_err();
    assert_eq!(
        fault.what,
        "while requesting AWS credentials: HTTP 401: no token"
    );
    let elsewhere = env(&[(
        "AWS_CONTAINER_CREDENTIALS_FULL_URI",
        "http://keys.example/keys",
    )]);
    let found = ChatModel::open(&model(&server), PATIENCE, &elsewhere).unwrap_err();
    assert!(matches!(found, Unopened::Unusable(_)), "{found}");
}

fn bearer() {
    let server = Standin::always(json(&spoken(Wire::Bedrock)));
    let chat = ChatModel::open(
        &model(&server),
        PATIENCE,
        &env(&[("AWS_BEARER_TOKEN_BEDROCK", "key-1")]),
    )
    .unwrap();
    wait(chat.turn(&conversation())).unwrap();
    assert_eq!(server.only().header("authorization"), Some("Bearer key-1"));
}

fn missing() {
    let server = Standin::always(json(&spoken(Wire::Bedrock)));
    let found = ChatModel::open(&model(&server), PATIENCE, &env(&[])).unwrap_err();
    assert!(
        matches!(&found, Unopened::NoKey { .. }) && found.to_string().contains("AWS_ACCESS_KEY_ID"),
        "{found}"
    );
    let nowhere = Provider {
        region: None,
        ..model(&server)
    };
    let found = ChatModel::open(&nowhere, PATIENCE, &env(&KEYS)).unwrap_err();
    assert_eq!(
        found.to_string(),
        "bedrock needs a region: set region in the target, or AWS_REGION"
    );
}
