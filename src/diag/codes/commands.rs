//! Codes of problems with options, reports and shards.

use crate::diag::code::{Code, CodeSection, CodeText, codes};

codes! {
    "Commands", "Problems with options, reports and shards";

    BAD_PARTS = "bad-parts" {
        cause: "The shards of a run do not belong together, are incomplete, or belong to another commit.",
        example: "command line: the shard 2/4 is given 2 times; name the folder of each shard once [bad-parts]",
        fix: "Give `goldgate merge` the folder of each shard of one run once. Merge on the commit that was graded.",
    }

    BAD_REPORT = "bad-report" {
        cause: "A report lacks values that goldgate always writes.",
        example: "out/report.json:1:1: the metric \"f1_score\" of metric_order has no values; use the report as \
            goldgate wrote it, unedited [bad-report]",
        fix: "Run goldgate again to write the report. Do not edit it.",
    }

    BAD_SHARD = "bad-shard" {
        cause: "The file of a shard is not as `goldgate run --shard` wrote it.",
        example: "out/shard.json: unknown schema \"goldgate.shard/9\"; use the folders as goldgate run --shard wrote \
            them, unedited [bad-shard]",
        fix: "Grade the shard again, and pass its whole folder on. All shards need the same version of goldgate.",
    }

    MISSING_PART = "missing-part" {
        cause: "A case is in no shard, so the joined result would be incomplete.",
        example: "golden/expected/legal/lease.json: no shard has the result of contracts/legal/lease; grade all shards \
            on the same checkout and merge there [missing-part]",
        fix: "Grade all shards again on one commit.",
    }

    NO_JUDGES = "no-judges" {
        cause: "Judges are to be run, but no selected suite has one.",
        example: "goldgate.yaml: no selected suite has a judge; add judges: { NAME: { target: NAME, rubric: FILE } } \
            to the suite [no-judges]",
        fix: "Add a judge as `docs/judges.md` shows, or select another suite.",
    }

    NO_LABELS = "no-labels" {
        cause: "Cases are to be labeled, but no selected suite says where the labels belong.",
        example: "goldgate.yaml: no selected suite has a file of labels; add labels: FILE to the suite; the file need \
            not exist yet [no-labels]",
        fix: "Add `labels: labels.json` to the suite or to the judge.",
    }

    NO_NAME = "no-name" {
        cause: "A label needs the name of the person who gives it, and none is known.",
        example: "command line: the labeler's name is unknown; use --by NAME, or set git's user.name [no-name]",
        fix: "Add `--by NAME`.",
    }

    NOTHING_RECOVERED = "nothing-recovered" {
        cause: "The text on standard input has no JSON in it.",
        example: "standard input: this text contains no JSON object or array; ask the model for JSON, or check its \
            answer [nothing-recovered]",
        fix: "Look at the text. Ask the model to answer with one JSON object and nothing else.",
    }

    NOTHING_SELECTED = "nothing-selected" {
        cause: "The filters of the command line leave nothing to grade.",
        example: "goldgate.yaml: --agent: unknown agent \"legall\"; did you mean \"legal\"? [nothing-selected]",
        fix: "Correct or remove filters. `goldgate check` lists the suites.",
    }

    OTHER_CONFIG = "other-config" {
        cause: "The shards were graded with another config than the one that is used to join them.",
        example: "goldgate.yaml: the shards were graded with another config; merge on the commit of the shards \
            [other-config]",
        fix: "Check out the commit that the shards graded, and merge there.",
    }

    UNKNOWN_CODE = "unknown-code" {
        cause: "The code of a problem, which is the word in brackets at the end of a message, does not exist.",
        example: "command line: \"unknown-keys\" is not the code of a problem; did you mean \"unknown-key\"? \
            [unknown-code]",
        fix: "Copy the code from the message without the brackets. `goldgate explain --codes` lists all codes.",
    }

    UNKNOWN_COMMAND = "unknown-command" {
        cause: "A manual page was asked for, but goldgate has no command with this name.",
        example: "command line: unknown command \"rum\"; did you mean \"run\"? [unknown-command]",
        fix: "Use a name that `goldgate --help` lists.",
    }

    UNKNOWN_DIMENSION = "unknown-dimension" {
        cause: "A dimension of the rubric does not exist.",
        example: "command line: unknown dimension \"atom_clarty\"; did you mean \"atom_clarity\"? [unknown-dimension]",
        fix: "Use one of the dimensions that `docs/kinds/interview.md` describes.",
    }
}
