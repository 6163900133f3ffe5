//! When runs were made, by the dates that their records state.
//!
//! Of two recordings with the same answer, only a date shows that the agent was run again.

use jiff::Timestamp;
use jiff::fmt::rfc2822;
use serde_json::{Map, Value};

use crate::source::Source;
use crate::transcript::Transcript;

/// Where records state when they were made, in the order of preference: at their top, in `metadata`, and in the results of promptfoo.
const KEYS: [&str; 7] = [
    "created_at",
    "createdAt",
    "created",
    "timestamp",
    "date",
    "start_time",
    "request_time",
];
const INSIDE: [&str; 3] = ["metadata", "response", "results"];

/// From here on a number of a time is in milliseconds: as seconds it would be after the year 5000.
const MILLISECONDS: i64 = 100_000_000_000;

/// Adds the date of its record to each run without one. A list of messages has the date of its last message with one.
pub fn add_dates(source: &Source<'_>, runs: &mut [Transcript]) {
    let documents = &source.documents;
    for run in runs.iter_mut().filter(|run| run.started_at.is_none()) {
        let index = documents.partition_point(|document| document.at <= run.at);
        let document = documents.get(index.saturating_sub(1));
        run.started_at = document.and_then(|document| date_of(&document.value));
    }
}

/// A time in UTC; `None` if it is not RFC 3339. A time without a zone is one in UTC.
pub fn in_utc(text: &str) -> Option<String> {
    Some(moment(text)?.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
}

/// The moment of an RFC 3339 time.
pub fn moment(text: &str) -> Option<Timestamp> {
    text.parse().or_else(|_| format!("{text}Z").parse()).ok()
}

fn date_of(record: &Value) -> Option<String> {
    match record {
        Value::Array(messages) => messages.iter().rev().find_map(date_of),
        Value::Object(fields) => {
            if let Some(date) = time_in(fields) {
                return Some(date);
            }
            let mut inner = INSIDE
                .iter()
                .filter_map(|key| fields.get(*key)?.as_object());
            inner.find_map(time_in)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

fn time_in(fields: &Map<String, Value>) -> Option<String> {
    KEYS.iter()
        .filter_map(|key| fields.get(*key))
        .find_map(time)
}

/// A time as a text, or as a number of seconds or milliseconds since 1970.
pub fn time(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => match text.parse() {
            Ok(number) => number,
            Err(_) => return in_utc(text).or_else(|| in_utc(&mail_date(text)?)),
        },
        Value::Number(number) => number
            .as_i64()
            .or_else(|| number.as_f64().map(|float| float as i64))?,
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => return None,
    };
    let time = match text {
        ..MILLISECONDS => Timestamp::from_second(text),
        _ => Timestamp::from_millisecond(text),
    };
    in_utc(
        &time
            .ok()
            .filter(|time| *time > Timestamp::UNIX_EPOCH)?
            .to_string(),
    )
}

/// The time of a date as in the headers of mails and HTTP answers.
fn mail_date(text: &str) -> Option<String> {
    Some(rfc2822::parse(text).ok()?.timestamp().to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::date_of;

    #[test]
    fn a_date_is_read_in_every_usual_form() {
        let expected = Some("2026-01-02T03:04:05Z");
        for record in [
            json!({ "created_at": "2026-01-02T03:04:05.678Z" }),
            json!({ "created": 1_767_323_045 }),
            json!({ "created": "1767323045" }),
            json!({ "date": "Fri, 02 Jan 2026 03:04:05 GMT" }),
            json!({ "created_at": 1_767_323_045.5 }),
            json!({ "timestamp": 1_767_323_045_678_i64 }),
            json!({ "date": "2026-01-02T04:04:05+01:00" }),
            json!({ "metadata": { "created_at": "2026-01-02T03:04:05" } }),
            json!({ "results": { "timestamp": "2026-01-02T03:04:05Z" } }),
            json!([{ "role": "user" }, { "role": "assistant", "timestamp": "2026-01-02T03:04:05Z" }, { "role": "user" }]),
        ] {
            assert_eq!(date_of(&record).as_deref(), expected, "{record}");
        }
        for record in [
            json!({ "created": "yesterday" }),
            json!({ "created": 0 }),
            json!([]),
            Value::Null,
        ] {
            assert_eq!(date_of(&record), None, "{record}");
        }
    }
}
