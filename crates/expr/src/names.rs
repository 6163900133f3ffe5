//! The functions that expressions can use.

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

/// The least and the most values that a function takes, the one before its dot among them. `None` for macros: right ones are no calls after
/// parsing.
pub fn operands(function: &str) -> Option<(usize, usize)> {
    Some(match function {
        "all" | "exists" | "exists_one" | "filter" | "has" | "map" => return None,
        "join" => (1, 2),
        "charAt" | "contains" | "endsWith" | "matches" | "startsWith" => (2, 2),
        "indexOf" | "lastIndexOf" | "split" | "substring" => (2, 3),
        "replace" => (3, 4),
        "math.greatest" | "math.least" => (1, usize::MAX),
        _ => (1, 1),
    })
}

/// Whether a function is only called as `name(value)`, not as `value.name()`.
pub fn is_prefix_only(function: &str) -> bool {
    function == "sum"
}
