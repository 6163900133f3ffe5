//! The token counts of every vendor.

use serde_json::Value;

use crate::transcript::Usage;

const INPUT: [&str; 9] = [
    "input_tokens",
    "prompt_tokens",
    "inputTokens",
    "promptTokens",
    "promptTokenCount",
    "prompt_token_count",
    "prompt_eval_count",
    "prompt",
    "input",
];
const OUTPUT: [&str; 9] = [
    "output_tokens",
    "completion_tokens",
    "outputTokens",
    "completionTokens",
    "candidatesTokenCount",
    "candidates_token_count",
    "eval_count",
    "completion",
    "output",
];
const TOTAL: [&str; 5] = [
    "total_tokens",
    "totalTokens",
    "totalTokenCount",
    "total_token_count",
    "total",
];

/// What Anthropic and Bedrock do not count as input: tokens that were written to the cache or read from it.
const CACHED: [&str; 4] = [
    "cache_creation_input_tokens",
    "cache_read_input_tokens",
    "cacheWriteInputTokens",
    "cacheReadInputTokens",
];

/// What Gemini does not count as output: tokens of its thoughts.
const THOUGHTS: [&str; 2] = ["thoughtsTokenCount", "thoughts_token_count"];

impl Usage {
    /// Adds the tokens that an object states under the names of any vendor.
    pub(crate) fn add_tokens(&mut self, stated: &Value) {
        let mut input = first_count(stated, &INPUT);
        if let Some(input) = &mut input {
            for key in CACHED {
                *input = input.saturating_add(count(stated, key).unwrap_or(0));
            }
        }
        let thoughts = first_count(stated, &THOUGHTS).unwrap_or(0);
        let output = first_count(stated, &OUTPUT).map(|output| output.saturating_add(thoughts));
        let both = (input.is_some() || output.is_some())
            .then(|| input.unwrap_or(0).saturating_add(output.unwrap_or(0)));
        add(&mut self.input_tokens, input);
        add(&mut self.output_tokens, output);
        add(&mut self.total_tokens, first_count(stated, &TOTAL).or(both));
    }

    /// Adds the tokens of another part of the run.
    pub fn add_tokens_of(&mut self, more: &Self) {
        add(&mut self.input_tokens, more.input_tokens);
        add(&mut self.output_tokens, more.output_tokens);
        add(&mut self.total_tokens, more.total_tokens);
    }
}

fn count(usage: &Value, key: &str) -> Option<u64> {
    usage.get(key).and_then(Value::as_u64)
}

fn first_count(usage: &Value, keys: &[&str]) -> Option<u64> {
    keys.iter().find_map(|key| count(usage, key))
}

/// Adds a count; a total that was never counted stays `None`.
pub fn add(total: &mut Option<u64>, more: Option<u64>) {
    if let Some(more) = more {
        *total = Some(total.unwrap_or(0).saturating_add(more));
    }
}
