//! The names that expressions can use.

/// What an expression can use, each with its meaning. docs/kinds/custom.md prints this table.
pub const VARIABLES: &[(&str, &str)] = &[
    (
        "output",
        "the outputs of the run. If `text` is the only output: the JSON in it. Otherwise: all outputs, and the keys of a JSON object in `text`",
    ),
    (
        "text",
        "the text of the answer, or `null`. An answer that is not a string is given as JSON, followed by the decoded form of each string and key that JSON escapes",
    ),
    (
        "calls",
        "the tool calls: `name`, `server`, `arguments`, `result`, whether it `failed`, its `turn` in a conversation, and its `step`, which is \
         the same for calls that the model asked for in one answer; `null` if they cannot be read",
    ),
    ("input", "`input` of the case, or its `query`"),
    (
        "expected",
        "`expected` of the case; without such a key the case, without its id, tags, notes and owner",
    ),
    (
        "used",
        "what the run used: `input_tokens`, `output_tokens`, `total_tokens`, `latency_ms`, `cost_usd`; null if unknown",
    ),
];

/// The functions of expressions.
pub const FUNCTIONS: &[&str] = &[
    "all",
    "bool",
    "bytes",
    "charAt",
    "contains",
    "double",
    "endsWith",
    "exists",
    "exists_one",
    "filter",
    "has",
    "indexOf",
    "int",
    "join",
    "lastIndexOf",
    "lowerAscii",
    "map",
    "matches",
    "math.abs",
    "math.ceil",
    "math.floor",
    "math.greatest",
    "math.isFinite",
    "math.isInf",
    "math.isNaN",
    "math.least",
    "math.round",
    "math.sign",
    "math.sqrt",
    "math.trunc",
    "replace",
    "reverse",
    "size",
    "split",
    "startsWith",
    "string",
    "substring",
    "sum",
    "trim",
    "type",
    "uint",
    "upperAscii",
];
