//! The names that expressions can use.

/// What an expression can use, each with its meaning. docs/kinds/custom.md prints this table.
pub const VARIABLES: &[(&str, &str)] = &[
    (
        "output",
        "the outputs of the run; if the run has only a text, the JSON in it. Where there are other outputs, the keys of an object in the text are added to them",
    ),
    (
        "text",
        "the text of the answer; `null` without one. An answer that is not a text is its JSON, and below it each text or key that JSON escapes, decoded",
    ),
    (
        "calls",
        "the tool calls: `name`, `server`, `arguments`, `result`, whether it `failed`, its `turn` in a conversation, and its `step`, which is \
         the same for calls that the model asked for in one answer; `null` if they cannot be read",
    ),
    ("input", "`input` of the case, or its `query`"),
    ("expected", "`expected` of the case; without such a key the case, without its id, tags, notes and owner"),
    (
        "used",
        "what the run used: `input_tokens`, `output_tokens`, `total_tokens`, `latency_ms`, `cost_usd`; null if unknown",
    ),
];

/// The functions of expressions.
pub const FUNCTIONS: &[&str] = &[
    "all", "bool", "bytes", "charAt", "contains", "double", "endsWith", "exists", "exists_one", "filter", "has",
    "indexOf", "int", "join", "lastIndexOf", "lowerAscii", "map", "matches", "math.abs", "math.ceil", "math.floor",
    "math.greatest", "math.isFinite", "math.isInf", "math.isNaN", "math.least", "math.round", "math.sign", "math.sqrt",
    "math.trunc", "replace", "reverse", "size", "split", "startsWith", "string", "substring", "sum", "trim", "type",
    "uint", "upperAscii",
];
