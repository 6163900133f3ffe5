//! The code of a kind of problem. What it means is said in `docs/errors.md` alone, which is part of the program.

use std::fmt;

/// A stable short name of a kind of problem, such as `unknown-key`.
///
/// Each code is a constant, such as `Code::UNKNOWN_KEY`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Code(&'static str);

/// What a code means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CodeText {
    /// What the problem is, in one or two sentences.
    pub cause: &'static str,
    /// A whole diagnostic with this code.
    pub example: &'static str,
    /// What to do, for a reader who does not know goldgate.
    pub fix: &'static str,
}

/// Codes that belong together.
#[derive(Debug)]
pub struct CodeSection {
    /// Its heading.
    pub title: &'static str,
    /// What its codes have in common.
    pub about: &'static str,
    /// In the order of the page.
    pub codes: Vec<Code>,
}

/// The page with the texts of all codes.
const PAGE: &str = include_str!("../../docs/errors.md");

impl Code {
    /// The code as a diagnostic shows it.
    pub fn as_str(self) -> &'static str {
        self.0
    }

    /// All codes, sorted.
    pub fn all() -> impl Iterator<Item = Self> {
        CODES.iter().copied()
    }

    /// The code with this name.
    pub fn of_word(word: &str) -> Option<Self> {
        Self::all().find(|code| code.as_str() == word)
    }

    /// What it means; empty texts if the page has no entry for it, which a test refuses.
    pub fn text(self) -> CodeText {
        let entry = PAGE.split("\n### ").skip(1).find_map(|entry| {
            let (word, text) = entry.split_once("\n\n")?;
            (word == self.as_str()).then_some(text)
        });
        let entry = entry.unwrap_or_default();
        let entry = entry.split("\n## ").next().unwrap_or_default();
        let (cause, rest) = entry.split_once("\n\n```text\n").unwrap_or_default();
        let (example, fix) = rest.split_once("\n```\n\n**Fix:** ").unwrap_or_default();
        CodeText {
            cause,
            example,
            fix: fix.trim_end(),
        }
    }
}

/// The sections of the page, in its order.
pub fn code_sections() -> Vec<CodeSection> {
    PAGE.split("\n## ").skip(1).map(code_section).collect()
}

fn code_section(text: &'static str) -> CodeSection {
    let (title, rest) = text.split_once("\n\n").unwrap_or_default();
    let mut entries = rest.split("\n### ");
    CodeSection {
        title,
        about: entries.next().unwrap_or_default().trim_end(),
        codes: entries
            .filter_map(|entry| Code::of_word(entry.lines().next()?))
            .collect(),
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

/// Defines a constant of [`Code`] for each code, and the list of all.
macro_rules! codes {
    ($($name:ident = $word:literal,)+) => {
        #[expect(missing_docs, reason = "docs/errors.md says what each means")]
        impl Code {
            $(pub const $name: Self = Self($word);)+
        }

        const CODES: &[Code] = &[$(Code::$name),+];
    };
}

codes! {
    ANOTHER_INPUT = "another-input",
    ANSWER_WITHOUT_CALL = "answer-without-call",
    ANY_SOURCE = "any-source",
    ASKS_NOTHING = "asks-nothing",
    BAD_AGENTS = "bad-agents",
    BAD_ATTEMPTS = "bad-attempts",
    BAD_DATE = "bad-date",
    BAD_DURATION = "bad-duration",
    BAD_EXPRESSION = "bad-expression",
    BAD_FIELD = "bad-field",
    BAD_FOLDER = "bad-folder",
    BAD_GATE = "bad-gate",
    BAD_GLOB = "bad-glob",
    BAD_ID = "bad-id",
    BAD_INPUT = "bad-input",
    BAD_JSON_SCHEMA = "bad-json-schema",
    BAD_JUDGEMENTS = "bad-judgements",
    BAD_KEY = "bad-key",
    BAD_LABEL = "bad-label",
    BAD_LINK = "bad-link",
    BAD_MESSAGE = "bad-message",
    BAD_NUMBER = "bad-number",
    BAD_PARTS = "bad-parts",
    BAD_PATH = "bad-path",
    BAD_PATTERN = "bad-pattern",
    BAD_PENALTY = "bad-penalty",
    BAD_QUARANTINE = "bad-quarantine",
    BAD_RANGE = "bad-range",
    BAD_REGION = "bad-region",
    BAD_REPORT = "bad-report",
    BAD_SAMPLES = "bad-samples",
    BAD_SCORE = "bad-score",
    BAD_SECTION = "bad-section",
    BAD_SHARD = "bad-shard",
    BAD_SOURCE = "bad-source",
    BAD_TARGET = "bad-target",
    BAD_THRESHOLD = "bad-threshold",
    BAD_TOOL = "bad-tool",
    BAD_TRAJECTORY = "bad-trajectory",
    BAD_TRUTH = "bad-truth",
    BAD_VALUE = "bad-value",
    BAD_VARIABLE = "bad-variable",
    BAD_VOTES = "bad-votes",
    BAD_WEIGHTS = "bad-weights",
    BAD_ZONE = "bad-zone",
    BROKEN_ARCHIVE = "broken-archive",
    BROKEN_JSON = "broken-json",
    BUILDS_FROM_SOURCE = "builds-from-source",
    CANNOT_FAIL = "cannot-fail",
    CANNOT_HOLD = "cannot-hold",
    CHECKED_OUT_PULL = "checked-out-pull",
    CONFIG_IN_SUBMODULE = "config-in-submodule",
    CONTRADICTION = "contradiction",
    DIFFERENT_INPUTS = "different-inputs",
    DUPLICATE_ID = "duplicate-id",
    DUPLICATE_ITEM = "duplicate-item",
    DUPLICATE_KEY = "duplicate-key",
    DUPLICATE_NAME = "duplicate-name",
    DUPLICATE_RECORDING = "duplicate-recording",
    EMPTY_CATEGORY = "empty-category",
    EMPTY_FILE = "empty-file",
    EMPTY_KEYWORD = "empty-keyword",
    EMPTY_LIST = "empty-list",
    EMPTY_RANGE = "empty-range",
    EMPTY_RUBRIC = "empty-rubric",
    EMPTY_SET = "empty-set",
    EMPTY_SUITE = "empty-suite",
    EMPTY_TEXT = "empty-text",
    EMPTY_TIER = "empty-tier",
    EMPTY_TOOL = "empty-tool",
    FILTERED = "filtered",
    FOLDER_PATTERN = "folder-pattern",
    FOREIGN_RECORDING = "foreign-recording",
    GROUPED_GATE = "grouped-gate",
    IGNORED_FAILURE = "ignored-failure",
    IMAGE_REFUSED = "image-refused",
    JUDGE_IN_GATE = "judge-in-gate",
    LFS_POINTER = "lfs-pointer",
    LINKED_CONFIG = "linked-config",
    LIVE_TARGET = "live-target",
    MACHINE = "machine",
    MANY_AGENTS = "many-agents",
    MANY_TRACES = "many-traces",
    MISSING_CONTRACT = "missing-contract",
    MISSING_FILE = "missing-file",
    MISSING_FOLDER = "missing-folder",
    MISSING_KEY = "missing-key",
    MISSING_PART = "missing-part",
    MISSING_PERMISSION = "missing-permission",
    MISSING_TYPE = "missing-type",
    NEGATIVE = "negative",
    NEVER_RUN = "never-run",
    NO_ACTION = "no-action",
    NO_AGENT = "no-agent",
    NO_AGENTS = "no-agents",
    NO_ANSWER = "no-answer",
    NO_BASE_CHECKOUT = "no-base-checkout",
    NO_BASELINE = "no-baseline",
    NO_BUDGET = "no-budget",
    NO_CASE = "no-case",
    NO_COMMAND = "no-command",
    NO_DATE = "no-date",
    NO_EFFECT = "no-effect",
    NO_ENVIRONMENT = "no-environment",
    NO_FOLDER = "no-folder",
    NO_GATE = "no-gate",
    NO_JUDGES = "no-judges",
    NO_LABELS = "no-labels",
    NO_MERGE_GROUP = "no-merge-group",
    NO_MESSAGES = "no-messages",
    NO_NAME = "no-name",
    NO_PRICE = "no-price",
    NO_RATIONALE = "no-rationale",
    NO_REASON = "no-reason",
    NO_RECORDER = "no-recorder",
    NO_RECORDING = "no-recording",
    NO_REPORT = "no-report",
    NO_RUN = "no-run",
    NO_RUN_NAME = "no-run-name",
    NO_SNAPSHOT = "no-snapshot",
    NO_SOURCE = "no-source",
    NO_SUITES = "no-suites",
    NO_TERMS = "no-terms",
    NO_TOKEN = "no-token",
    NO_TOOLS = "no-tools",
    NO_TRANSCRIPT = "no-transcript",
    NO_VARIANTS = "no-variants",
    NO_WORDS = "no-words",
    NOT_PINNED = "not-pinned",
    NOT_READ = "not-read",
    NOT_REQUIRED = "not-required",
    NOT_RTF = "not-rtf",
    NOT_UTF8 = "not-utf8",
    NOTHING_RECOVERED = "nothing-recovered",
    NOTHING_SELECTED = "nothing-selected",
    OTHER_CASE = "other-case",
    OTHER_CONFIG = "other-config",
    OTHER_FORM = "other-form",
    OTHER_NAME = "other-name",
    OTHER_SAMPLES = "other-samples",
    OVER_BUDGET = "over-budget",
    PATH_OUTSIDE = "path-outside",
    PLACEHOLDER = "placeholder",
    QUEUE_GROUPING = "queue-grouping",
    RECORD_OF_ANOTHER = "record-of-another",
    RUNS_OF = "runs-of",
    SKIPPABLE = "skippable",
    STALE_RECORDING = "stale-recording",
    SUBMODULE_NOT_CHECKED_OUT = "submodule-not-checked-out",
    TOO_DEEP = "too-deep",
    TOO_LARGE = "too-large",
    TOO_MANY = "too-many",
    TOO_MANY_FILES = "too-many-files",
    TOO_MANY_QUARANTINED = "too-many-quarantined",
    TOO_MANY_SAMPLES = "too-many-samples",
    UNKNOWN_AGENT = "unknown-agent",
    UNKNOWN_AGENT_FILES = "unknown-agent-files",
    UNKNOWN_CASE = "unknown-case",
    UNKNOWN_CATEGORY = "unknown-category",
    UNKNOWN_CHECK = "unknown-check",
    UNKNOWN_CODE = "unknown-code",
    UNKNOWN_COMMAND = "unknown-command",
    UNKNOWN_DIMENSION = "unknown-dimension",
    UNKNOWN_FLAG = "unknown-flag",
    UNKNOWN_FORMAT = "unknown-format",
    UNKNOWN_KEY = "unknown-key",
    UNKNOWN_KIND = "unknown-kind",
    UNKNOWN_METRIC = "unknown-metric",
    UNKNOWN_RULE = "unknown-rule",
    UNKNOWN_SCHEMA = "unknown-schema",
    UNKNOWN_STATUS = "unknown-status",
    UNKNOWN_SUITE = "unknown-suite",
    UNKNOWN_TARGET = "unknown-target",
    UNKNOWN_VALUE = "unknown-value",
    UNKNOWN_VERSION = "unknown-version",
    UNREADABLE = "unreadable",
    UNSATISFIABLE = "unsatisfiable",
    UNUSED = "unused",
    WOULD_OVERWRITE = "would-overwrite",
    WRONG_TYPE = "wrong-type",
    YAML_ONLY = "yaml-only",
}

#[cfg(test)]
mod tests {
    use super::{CODES, Code, CodeText, code_sections};

    #[test]
    fn the_page_has_every_code_once_and_those_of_a_section_are_sorted() {
        assert!(CODES.is_sorted());
        let sections = code_sections();
        for section in &sections {
            assert!(section.codes.is_sorted(), "{:?}", section.codes);
            assert!(section.about.ends_with('.'), "{}", section.about);
        }
        let mut all: Vec<Code> = sections.into_iter().flat_map(|one| one.codes).collect();
        all.sort();
        assert_eq!(all, CODES);
    }

    #[test]
    fn an_example_is_a_diagnostic_with_a_position_a_remedy_and_its_code() {
        for code in Code::all() {
            let word = code.as_str();
            let CodeText {
                cause,
                example,
                fix,
            } = code.text();
            let text = example.strip_suffix(&format!(" [{word}]"));
            let (place, text) = text
                .and_then(|text| text.split_once(": "))
                .unwrap_or_default();
            assert!(
                !place.is_empty() && text.contains("; ") && !example.contains('\n'),
                "{word}: {example}"
            );
            for text in [cause, fix] {
                let is_sentence = text.starts_with(char::is_uppercase) || text.starts_with('`');
                assert!(is_sentence && text.ends_with('.'), "{word}: {text}");
            }
        }
    }

    #[test]
    fn a_code_is_found_by_its_whole_name() {
        assert_eq!(Code::of_word("unknown-key"), Some(Code::UNKNOWN_KEY));
        assert_eq!(Code::of_word("unknown"), None);
    }
}
