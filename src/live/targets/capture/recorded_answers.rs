//! The answers of a recording, each given once, to the request that it was given to.

use std::sync::{Mutex, PoisonError};

use serde_json::Value;

use crate::format::capture::{first_difference, request_key};
use crate::model::{ExchangeWire, REDACTED, RecordedExchange, RecordedRequest};

pub struct RecordedAnswers {
    /// Each exchange with the digest of its request.
    exchanges: Vec<(String, RecordedExchange)>,
    /// For each exchange, whether its answer was given.
    given: Mutex<Vec<bool>>,
}

impl RecordedAnswers {
    pub fn new(exchanges: &[RecordedExchange]) -> Self {
        let mut keyed = Vec::new();
        for exchange in exchanges {
            keyed.push((
                request_key(exchange.wire, &exchange.request),
                exchange.clone(),
            ));
        }
        Self {
            exchanges: keyed,
            given: Mutex::new(vec![false; exchanges.len()]),
        }
    }

    /// The recorded exchange of an equal request: the first one that was not given yet, because the same question may have had
    /// two answers.
    ///
    /// # Errors
    /// Why there is none: what differs from the next recorded request.
    pub fn answer(
        &self,
        wire: ExchangeWire,
        request: &RecordedRequest,
    ) -> Result<&RecordedExchange, String> {
        let key = request_key(wire, request);
        let mut given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        let next = self
            .exchanges
            .iter()
            .zip(&*given)
            .position(|((known, _), given)| !given && *known == key);
        match next {
            Some(index) => {
                given[index] = true;
                Ok(&self.exchanges[index].1)
            }
            None => Err(self.reason(wire, request, &key, &given)),
        }
    }

    fn reason(
        &self,
        wire: ExchangeWire,
        request: &RecordedRequest,
        key: &str,
        given: &[bool],
    ) -> String {
        let RecordedRequest {
            method,
            path,
            headers: _,
            body,
        } = request;
        let asked = format!("{method} {path} of {}", wire.as_str());
        let times = self
            .exchanges
            .iter()
            .filter(|(known, _)| known == key)
            .count();
        if times > 0 {
            return format!("{asked} is asked more often than the {times} recorded");
        }
        let mut alike = Vec::new();
        for (index, (_, exchange)) in self.exchanges.iter().enumerate() {
            if !given[index] && exchange.wire == wire && exchange.request.path == *path {
                alike.push((index + 1, exchange));
            }
        }
        // Each turn of a conversation starts the program again, which asks with all messages so far.
        let asked_messages = messages(body);
        let closest = alike
            .iter()
            .find(|(_, exchange)| messages(&exchange.request.body) == asked_messages)
            .or(alike.first());
        match closest {
            Some((number, exchange)) => {
                let difference = first_difference(&exchange.request.body, body);
                let difference =
                    difference.map_or(String::new(), |difference| format!(": {difference}"));
                let removed = if exchange.request.body.to_string().contains(REDACTED) {
                    "; of the recorded call a text that looks like a key was removed, so it is not found again"
                } else {
                    ""
                };
                format!("{asked} differs from the recorded call {number}{difference}{removed}")
            }
            None if self.exchanges.is_empty() => {
                format!("{asked}: the recording has no call of a model")
            }
            None => format!("{asked} comes after the {} recorded", self.exchanges.len()),
        }
    }
}

/// The number of messages in a request's body; `None` if it has no list of them.
fn messages(body: &Value) -> Option<usize> {
    ["messages", "input"]
        .into_iter()
        .find_map(|key| body[key].as_array().map(Vec::len))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::RecordedAnswers;
    use crate::model::{ExchangeWire, RecordedExchange, RecordedRequest, RecordedResponse};

    fn request(text: &str) -> RecordedRequest {
        let body = json!({ "messages": [{ "role": "user", "content": text }] });
        RecordedRequest {
            method: "POST".to_owned(),
            path: "/chat/completions".to_owned(),
            headers: vec![],
            body,
        }
    }

    fn exchange(text: &str, answer: &str) -> RecordedExchange {
        RecordedExchange {
            wire: ExchangeWire::OpenAi,
            request: request(text),
            response: RecordedResponse {
                status: 200,
                content_type: None,
                body: Value::from(answer),
            },
            latency_ms: 1,
        }
    }

    #[test]
    fn a_request_is_compared_with_one_of_as_many_messages() {
        let second = |text: &str| {
            let messages = [("user", "a"), ("assistant", text), ("user", "b")];
            let messages =
                messages.map(|(role, content)| json!({ "role": role, "content": content }));
            RecordedRequest {
                body: json!({ "messages": messages }),
                ..request("a")
            }
        };
        let answers = RecordedAnswers::new(&[
            exchange("a", "1"),
            RecordedExchange {
                request: second("1"),
                ..exchange("", "2")
            },
        ]);
        assert_eq!(
            answers
                .answer(ExchangeWire::OpenAi, &second("** 1"))
                .unwrap_err(),
            "POST /chat/completions of openai differs from the recorded call 2: messages[1].content was \"1\", and is \"** 1\""
        );
    }

    #[test]
    fn each_answer_is_given_once_to_its_own_question() {
        let answers =
            RecordedAnswers::new(&[exchange("a", "1"), exchange("b", "2"), exchange("a", "3")]);
        let ask = |text: &str| answers.answer(ExchangeWire::OpenAi, &request(text));
        let answer = |text: &str| ask(text).map(|one| one.response.body.clone());
        assert_eq!(answer("a"), Ok(Value::from("1")));
        assert_eq!(
            ask("c").unwrap_err(),
            "POST /chat/completions of openai differs from the recorded call 2: messages[0].content was \"b\", and is \"c\""
        );
        assert_eq!(
            (answer("a"), answer("b")),
            (Ok(Value::from("3")), Ok(Value::from("2")))
        );
        assert_eq!(
            ask("a").unwrap_err(),
            "POST /chat/completions of openai is asked more often than the 2 recorded"
        );
        assert_eq!(
            ask("c").unwrap_err(),
            "POST /chat/completions of openai comes after the 3 recorded"
        );
        let of_anthropic = answers
            .answer(ExchangeWire::Anthropic, &request("a"))
            .unwrap_err();
        assert_eq!(
            of_anthropic,
            "POST /chat/completions of anthropic comes after the 3 recorded"
        );
        let none = RecordedAnswers::new(&[]);
        assert!(
            none.answer(ExchangeWire::OpenAi, &request("a"))
                .unwrap_err()
                .ends_with("no call of a model")
        );
    }
}
