//! Codes of problems in golden files and labels.

use crate::diag::code::{Code, CodeSection, CodeText, codes};

codes! {
    "Golden files and labels", "Problems in the expected results that people write";

    ASKS_NOTHING = "asks-nothing" {
        cause: "An expected statement has no condition, so every answer would fulfil it.",
        example: "interviews/scenarios/stock.json:14:5: an expected atom states no condition; state \
            descriptionContainsAny, categoryOneOf, minOutcomes or requiresEvidence [asks-nothing]",
        fix: "State what the answer must contain, or remove the entry.",
    }

    BAD_AGENTS = "bad-agents" {
        cause: "A case that compares agents names fewer than two different ones.",
        example: "agents/cases/rent.json:3:3: the case has fewer than two agents, or names one of them twice; name two \
            or more different agents [bad-agents]",
        fix: "List each agent whose run is compared once.",
    }

    BAD_FIELD = "bad-field" {
        cause: "A condition on one field of a tool call or an answer cannot be checked: it has no or several conditions, or its \
            value is not valid.",
        example: "cases.json:9:40: the field order.id must state exactly one condition; state equals, one_of, any_of, \
            fields, items, regex, near, length or type [bad-field]",
        fix: "Keep exactly one of `equals`, `one_of`, `any_of`, `fields`, `items`, `regex`, `near`, `length` and `type`, with a valid \
            value.",
    }

    BAD_JSON_SCHEMA = "bad-json-schema" {
        cause: "The JSON Schema of an answer is not a valid schema, or refers to another document.",
        example: "cases.json:4:30: invalid JSON Schema: \"objekt\" is not valid under any of the schemas listed in the \
            'anyOf' keyword; write a JSON Schema, or the path of a file with one; a $ref to another document is not \
            resolved [bad-json-schema]",
        fix: "Correct the schema. Put what a `$ref` refers to into the same schema, under `$defs`.",
    }

    BAD_LABEL = "bad-label" {
        cause: "A label does not say what it is about: it needs exactly one kind of judgement.",
        example: "labels.json:3:5: a label is a dimension with a score of 0 to 2, a check with a tag, or a verdict; \
            state exactly one of the three [bad-label]",
        fix: "Keep one of `dimension` with `score`, `check` with `tag`, and `verdict`. `goldgate label` writes valid \
            labels.",
    }

    BAD_QUARANTINE = "bad-quarantine" {
        cause: "A case is in quarantine without an owner, a reason or an end that is near enough. A quarantine without \
            end would hide a failing case for ever.",
        example: "golden/expected/legal/lease.json:4:3: the quarantine of \"lease\" needs an owner, a reason and an \
            end date up to 2026-12-22; write expires: \"2026-12-22\" or earlier [bad-quarantine]",
        fix: "Fill in `owner`, `reason` and `expires`, or fix the case and remove the quarantine.",
    }

    BAD_RANGE = "bad-range" {
        cause: "The covered lines of a snapshot are not written as a file with a first and a last line.",
        example: "deltas/fixtures/order.json:8:20: invalid coverage range \"src/order.rs\"; write path:from-to \
            [bad-range]",
        fix: "Write them like `src/order.rs:10-42`.",
    }

    BAD_SCORE = "bad-score" {
        cause: "A scenario demands a score that the rubric cannot give.",
        example: "interviews/scenarios/stock.json:5:3: minimumRubricScore is 15; the rubric has 0 to 12 points \
            [bad-score]",
        fix: "Write a number from 0 to 12. The rubric has six dimensions of up to two points.",
    }

    BAD_SECTION = "bad-section" {
        cause: "A section of a contract is not named by its number.",
        example: "contracts/cases/rent/instructions.json:6:18: \"four\" is not a section number; write it as in the \
            original, such as \"4.2\" [bad-section]",
        fix: "Copy the number of the section from the original document.",
    }

    BAD_TOOL = "bad-tool" {
        cause: "A tool is declared in a way that model vendors refuse: its name or the schema of its arguments is not \
            valid.",
        example: "tools.json:2:13: invalid tool name \"look up\"; use 1 to 64 letters, digits, _ and -, as the vendors \
            require [bad-tool]",
        fix: "Correct the name, or write `parameters` as the JSON Schema of an object.",
    }

    BAD_TRAJECTORY = "bad-trajectory" {
        cause: "An entry of a trajectory is not one call, one `any_of` or one `parallel`.",
        example: "cases.json:9:19: the number of calls in parallel is 1; list 2 to 8; write a single call without parallel [bad-trajectory]",
        fix: "Write a call with its name, or an entry with `any_of` or `parallel` and no other key. `parallel` lists 2 to 8 calls, and may \
            list entries with `any_of`.",
    }
    BAD_TRUTH = "bad-truth" {
        cause: "A scenario lists its facts and the keywords of the facts in two lists, and the lists do not fit \
            together.",
        example: "steady/scenarios/budget.json:7:3: there are 3 decidedFacts and 2 keywordSets; write one set of \
            keywords for each fact, and at least one fact [bad-truth]",
        fix: "Give every fact its own set of keywords, in the same order.",
    }

    BAD_ZONE = "bad-zone" {
        cause: "The range in which a result counts as undecided is too wide or negative.",
        example: "golden/expected/legal/lease.json:4:21: ambiguity_zone is 0.7; write a number from 0 to 0.5 \
            [bad-zone]",
        fix: "Write a number from 0 to 0.5, such as `0.05`.",
    }

    CANNOT_FAIL = "cannot-fail" {
        cause: "An instruction states nothing by which its success could be seen, so every document would pass.",
        example: "contracts/cases/rent/instructions.json:9:5: an added section 7 cannot be recognized; add heading or \
            must_contain [cannot-fail]",
        fix: "State the heading of the new section, or words that it must contain.",
    }

    CANNOT_HOLD = "cannot-hold" {
        cause: "The instructions of a case refer to something that the original document does not contain, so no agent \
            can follow them.",
        example: "contracts/cases/rent/instructions.json: allowed_changes lists section 9, but the original has no such \
            section; correct the instructions, or the original [cannot-hold]",
        fix: "Compare the instructions with `original.rtf` and correct one of the two.",
    }

    DUPLICATE_ITEM = "duplicate-item" {
        cause: "A case expects the same item twice with possibly different results.",
        example: "stable/cases/rename.json:12:15: \"total\" is expected twice; an item has one kind: keep one entry \
            [duplicate-item]",
        fix: "Remove one of the two entries.",
    }

    EMPTY_CATEGORY = "empty-category" {
        cause: "A category is empty or has no letters or digits.",
        example: "golden/expected/legal/lease.json:6:19: the category is empty; name a category [empty-category]",
        fix: "Write the category that the agent should report.",
    }

    EMPTY_KEYWORD = "empty-keyword" {
        cause: "A keyword is empty, or only punctuation, so it would match every text.",
        example: "golden/expected/legal/lease.json:8:32: the keyword \"\" is empty; write a word, or remove it: an \
            empty keyword would match everything [empty-keyword]",
        fix: "Write a word that shows that the agent found the right thing.",
    }

    EMPTY_RANGE = "empty-range" {
        cause: "A smallest value is above its largest value, so no result fits.",
        example: "golden/expected/legal/lease.json:7:7: min_severity P3 is above max_severity P1; swap them, or widen \
            the range [empty-range]",
        fix: "Swap the two values, or remove one of them.",
    }

    EMPTY_SET = "empty-set" {
        cause: "A fact of a scenario has no keyword, so it could never be found.",
        example: "steady/scenarios/budget.json:9:22: a keyword set is empty; name at least one [empty-set]",
        fix: "Write at least one word by which the fact is recognized in an answer.",
    }

    EMPTY_TOOL = "empty-tool" {
        cause: "An expected tool call does not name its tool.",
        example: "cases.json:4:33: a tool has no name; name it, or remove it [empty-tool]",
        fix: "Write the name of the tool as the agent calls it.",
    }


    MISSING_CONTRACT = "missing-contract" {
        cause: "A golden file belongs to a document that does not exist.",
        example: "golden/expected/legal/lease.json: contract \"lease.md\" does not exist; add \
            golden/contracts/lease.md, or remove this file [missing-contract]",
        fix: "Add the document, or rename the golden file to the name of its document.",
    }

    NO_DATE = "no-date" {
        cause: "A score of one output has no date. Without it nobody can tell which score is the latest.",
        example: "labels.json:4:5: a score of outputs needs a date; add date: YYYY-MM-DD [no-date]",
        fix: "Add the day on which the person gave the score.",
    }

    NO_SNAPSHOT = "no-snapshot" {
        cause: "A case has a snapshot and one of its variants has none, or the other way round. They could not be \
            compared.",
        example: "stable/cases/rename.json:18:15: only one of the case and its variant \"order\" has a snapshot; give \
            a snapshot to the case and every variant, or to none of them [no-snapshot]",
        fix: "Add the missing snapshots, or remove all of them.",
    }

    NO_TOOLS = "no-tools" {
        cause: "The file of a suite's tools declares none.",
        example: "tools.json:1:1: the list of tools is empty; declare one, or remove the key tools [no-tools]",
        fix: "Declare the tools that the agent may call, or remove `tools` from the suite.",
    }

    NO_VARIANTS = "no-variants" {
        cause: "A case that checks whether answers stay the same has nothing to compare.",
        example: "stable/cases/rename.json:4:15: the list of variants is empty; add a variant: a base run alone cannot \
            show stability [no-variants]",
        fix: "Add at least one variant of the input, such as one with renamed variables.",
    }

    NO_WORDS = "no-words" {
        cause: "A model is to be asked, but the case has no text to ask it with.",
        example: "stable/cases/rename.json: the case \"rename\" has no prompt for a model; add an input (a property's \
            snapshot, a scenario's context), or use a command or http target [no-words]",
        fix: "Add the input to the case, or call an agent that finds its input by itself.",
    }

    NOT_RTF = "not-rtf" {
        cause: "A document of a `revision` case is not an RTF file with text.",
        example: "contracts/cases/rent/original.rtf: not an RTF document with text; save the contract as RTF: it \
            begins with {\\rtf [not-rtf]",
        fix: "Open the document in a word processor and save it as RTF.",
    }

    TOO_MANY = "too-many" {
        cause: "A golden file has more expectations than can be compared with an answer in reasonable time.",
        example: "golden/expected/legal/lease.json:502:1: 501 entries in `expected_findings`; the limit is 500; divide the \
            case, or expect less [too-many]",
        fix: "Make several cases of the document.",
    }

    TOO_MANY_QUARANTINED = "too-many-quarantined" {
        cause: "More than a tenth of a suite's cases are in quarantine, so its result would say little.",
        example: "golden: 3 of 20 cases of \"contracts\" are in quarantine: lease, rent, sale; fix cases until at most one in ten is in \
            quarantine; a suite of fewer than ten cases can have none [too-many-quarantined]",
        fix: "Fix the oldest quarantined cases first. A suite of fewer than ten cases can have none in quarantine.",
    }

    UNKNOWN_AGENT = "unknown-agent" {
        cause: "A label or a case names an agent that the suite does not have.",
        example: "labels.json:2:14: a label is about \"frist\", which is not an agent of the suite; did you mean \
            \"first\"? [unknown-agent]",
        fix: "Correct the name. If the agent was renamed or removed, change or remove what names it.",
    }

    UNKNOWN_CASE = "unknown-case" {
        cause: "A label is about a case that the suite does not have.",
        example: "labels.json:4:31: a label is about \"stocks\", which is not a case of the suite; fix its case, or \
            remove the label [unknown-case]",
        fix: "Correct the case. If it was renamed or removed, change or remove the label.",
    }

    UNKNOWN_CATEGORY = "unknown-category" {
        cause: "A category is not in the suite's list of categories.",
        example: "golden/expected/legal/lease.json:6:19: unknown category \"chnge-of-control\"; did you mean \
            \"change-of-control\"? [unknown-category]",
        fix: "Correct the spelling, or add the category to `categories` of the suite.",
    }

    UNKNOWN_CHECK = "unknown-check" {
        cause: "A label is about a check that its case does not have.",
        example: "labels.json:6:31: \"schmea\" is not a check of the case \"stock\"; did you mean \"schema\"? \
            [unknown-check]",
        fix: "Use the name of a check as `goldgate explain CASE` shows it.",
    }

    UNKNOWN_FLAG = "unknown-flag" {
        cause: "A case expects a flag that the suite does not define.",
        example: "cases.json:5:24: unknown flag \"refsual\"; did you mean \"refusal\"? [unknown-flag]",
        fix: "Correct the name, or define the flag with its list of terms under `flags` of the suite.",
    }

    UNKNOWN_RULE = "unknown-rule" {
        cause: "A case names a rule that `rules.yaml` does not have.",
        example: "triggers/cases/late.json:9:24: unknown rule \"escalte\"; did you mean \"escalate\"? [unknown-rule]",
        fix: "Use the `id` of a rule in `rules.yaml`.",
    }

    UNSATISFIABLE = "unsatisfiable" {
        cause: "No answer can fulfil the golden file, so the case would always fail.",
        example: "golden/expected/legal/rent.json: findings are required, but max_expected_findings is 0; raise \
            max_expected_findings [unsatisfiable]",
        fix: "Find out which of the two conditions is right, and change the other one.",
    }

    UNUSED = "unused" {
        cause: "A file, a rule or an entry is never used. This is a note and blocks nothing.",
        example: "deltas/fixtures/notes.txt: not a golden file: it is ignored; rename it to {case}.json or \
            {case}.yaml, or move it elsewhere [unused]",
        fix: "Rename it, if it should be used. Otherwise remove it or move it to another folder.",
    }
}
