//! Codes of problems in the config and in what it names.

use crate::diag::code::{Code, CodeSection, CodeText, codes};

codes! {
    "The config", "Problems in goldgate.yaml and in what it names";

    BAD_ATTEMPTS = "bad-attempts" {
        cause: "A `revision` suite allows no attempt at all.",
        example: "goldgate.yaml:11:21: max_attempts is 0; write 1 or more [bad-attempts]",
        fix: "Write how many documents of one run are looked at, such as 3. Later ones are ignored.",
    }

    BAD_DURATION = "bad-duration" {
        cause: "A time is not a number with a unit, or it is zero.",
        example: "goldgate.yaml:5:16: invalid duration \"60\"; write a number with ms, s or m, such as 60s \
            [bad-duration]",
        fix: "Add the unit: `500ms`, `60s` or `5m`.",
    }

    BAD_EXPRESSION = "bad-expression" {
        cause: "An expression of a check or a metric is not valid CEL, uses an unknown name, or is too long.",
        example: "goldgate.yaml:9:15: unknown name \"outptu\" in the expression; did you mean \"output\"? [bad-expression]",
        fix: "Correct the expression. docs/kinds/custom.md lists the names and functions that it can use.",
    }

    BAD_GATE = "bad-gate" {
        cause: "A gate does not fit its metric: its limit is on the wrong side, has the wrong unit, or can never fail.",
        example: "goldgate.yaml:7:37: max is 15: false_positive_rate is a share between 0 and 1; did you mean 0.15? \
            [bad-gate]",
        fix: "Look up the metric in `docs/metrics.md`: its unit, whether higher is better, and its default gate.",
    }

    BAD_PATTERN = "bad-pattern" {
        cause: "A regular expression is not valid: of texts that goldgate removes, or of an answer.",
        example: "goldgate.yaml:2:10: redact: unclosed group; write a regular expression [bad-pattern]",
        fix: "Correct the expression. Put a backslash before a bracket that is meant literally.",
    }

    BAD_PENALTY = "bad-penalty" {
        cause: "A penalty of a `revision` suite is not a share of the whole score.",
        example: "goldgate.yaml:14:7: a penalty is not between 0 and 1; write a number from 0 to 1 [bad-penalty]",
        fix: "Write how much of the score one mistake costs, such as `0.1`.",
    }

    BAD_REGION = "bad-region" {
        cause: "The region of a cloud provider contains characters that no region has.",
        example: "goldgate.yaml:6:13: \"eu central\" is not a region; write a region such as eu-central-1 [bad-region]",
        fix: "Copy the region's code from the provider's console.",
    }

    BAD_SOURCE = "bad-source" {
        cause: "An agent states both recordings and a live target in one tier, or neither, or another prompt in each tier.",
        example: "goldgate.yaml:9:24: an agent needs exactly one of replay and target; write either replay: FOLDER or \
            target: NAME [bad-source]",
        fix: "Use `replay` for recorded runs and `target` for an agent that is called. The two tiers of one agent may \
            differ.",
    }

    BAD_TARGET = "bad-target" {
        cause: "A target does not say clearly how it is called, or it cannot be called on this machine.",
        example: "goldgate.yaml:4:3: a target needs exactly one of provider, command and http; keep or add one of them \
            [bad-target]",
        fix: "State one way to reach the agent. `docs/targets.md` shows each of them.",
    }

    BAD_THRESHOLD = "bad-threshold" {
        cause: "The quality that a `revision` suite demands is not a share.",
        example: "goldgate.yaml:12:21: quality_gate is 85; write a number from 0 to 1 [bad-threshold]",
        fix: "Write `0.85` for 85%.",
    }

    BAD_VARIABLE = "bad-variable" {
        cause: "The config names an environment variable that cannot exist, or one that would give a program the \
            rights of the CI runner.",
        example: "goldgate.yaml:6:18: api_key_env names GITHUB_TOKEN, which belongs to the runner; use your own \
            variable with the key, such as OPENAI_API_KEY [bad-variable]",
        fix: "Name a variable that holds what the target needs, and set it from a secret of the repository.",
    }

    BAD_VOTES = "bad-votes" {
        cause: "A judge votes an even number of times, which can end in a tie, or too often.",
        example: "goldgate.yaml:18:16: votes is 2; write an odd number from 1 to 15 [bad-votes]",
        fix: "Write 1, 3 or 5.",
    }

    BAD_WEIGHTS = "bad-weights" {
        cause: "The weights of the five parts of a `revision` score are not shares that add up to one.",
        example: "goldgate.yaml:11:15: the weights sum to 1.3; write five weights from 0 to 1 that sum to 1 \
            [bad-weights]",
        fix: "Change the weights until their sum is 1.",
    }

    CONFIG_IN_SUBMODULE = "config-in-submodule" {
        cause: "The config is in a submodule of Git. The base commit of the outer repository does not contain its \
            files.",
        example: "agents/goldgate.yaml: this config is in a submodule of /home/me/project, so the base commit cannot \
            be read; move the config into the repository itself, or run goldgate in a clone of the submodule \
            [config-in-submodule]",
        fix: "Check out the submodule's own repository in the job and run goldgate there.",
    }

    DUPLICATE_NAME = "duplicate-name" {
        cause: "A judge has the name of a metric of the suite's kind, so reports could not tell the two apart.",
        example: "goldgate.yaml:16:7: kind findings already has a metric \"f1_score\"; give the judge another name, \
            such as judged_f1_score [duplicate-name]",
        fix: "Rename the judge, also in its files of labels.",
    }

    EMPTY_LIST = "empty-list" {
        cause: "An agent has a list of its files, but the list is empty.",
        example: "goldgate.yaml:10:20: the list of patterns is empty; list files, or remove fingerprint [empty-list]",
        fix: "List the prompts, tools and sources that decide how the agent behaves: `fingerprint: [prompts/**]`.",
    }

    EMPTY_RUBRIC = "empty-rubric" {
        cause: "The rubric of a judge, which tells the model how to grade, has no text.",
        example: "judges/tone.md: the rubric is empty; describe when an output is a pass, weak or a fail \
            [empty-rubric]",
        fix: "Write when an output is a pass, when it is weak and when it is a fail.",
    }

    EMPTY_SUITE = "empty-suite" {
        cause: "A suite has no case, so it can check nothing and must not pass.",
        example: "goldgate.yaml:6:5: the suite \"contracts\" has no case; add golden files under golden [empty-suite]",
        fix: "Check the suite's `path`. The page of its kind in `docs/kinds` shows where the golden files belong.",
    }

    EMPTY_TIER = "empty-tier" {
        cause: "A suite runs in no tier.",
        example: "goldgate.yaml:7:11: the list of tiers is empty; write deterministic, model or both, or remove the \
            suite [empty-tier]",
        fix: "Write `deterministic` to grade recordings, which can block a merge. Write `model` to call the agent.",
    }

    FOLDER_PATTERN = "folder-pattern" {
        cause: "A pattern of an agent's `fingerprint` names a folder. A pattern without a wildcard names one file, so a change of \
            the folder's files would not make the recordings stale.",
        example: "goldgate.yaml:8:52: prompts is a folder, and this pattern would name no file of it; write prompts/** \
            [folder-pattern]",
        fix: "Write the folder with `/**`, which names all files below it.",
    }

    JUDGE_IN_GATE = "judge-in-gate" {
        cause: "A gate on a model's opinion would block merges by chance. LLM judges only advise.",
        example: "goldgate.yaml:20:7: the judge \"tone\" has a gate, but LLM judges are advisory and never gate; \
            remove the gate: judges are reported separately, and make recommendations once they agree with human \
            labels [judge-in-gate]",
        fix: "Remove the gate. `docs/judges.md` explains what a judge's result is used for.",
    }

    LINKED_CONFIG = "linked-config" {
        cause: "The path of the config goes over a symbolic link, so it is not clear which file decides.",
        example: "current/goldgate.yaml: current is a link, and no link leads to a config; name the config by the path \
            of the file itself [linked-config]",
        fix: "Give `--config` the real path of the file.",
    }

    LIVE_TARGET = "live-target" {
        cause: "A check that can block a merge would call a live agent or model, whose answers change from day to day.",
        example: "goldgate.yaml: the deterministic tier must not call the target \"claude\"; use replay: FOLDER, a \
            deterministic command, or replay: exchanges, and move the target to the model tier [live-target]",
        fix: "Record the agent's answers once with `goldgate run --tier model --record DIR`, commit them, and replay \
            them.",
    }

    NEGATIVE = "negative" {
        cause: "The allowed change of a value is below zero.",
        example: "goldgate.yaml:7:26: max_drop is -0.1; write 0 or more: it is the allowed change of the value \
            [negative]",
        fix: "Remove the minus sign. `max_drop: 0.1` allows a metric to become worse by 0.1.",
    }

    NEVER_RUN = "never-run" {
        cause: "No tier has the runs of all agents that a case needs, so the case would never be graded and never \
            fail.",
        example: "agents/cases/rent.json: the case \"rent\" of \"together\" (deterministic) would never be measured: \
            no tier has all of its runs: contracts/legal (deterministic), contracts/risk (model); add a source for all \
            of these agents in one tier of the suite, or remove agents without a source [never-run]",
        fix: "Give each agent of the case a source in the same tier.",
    }

    NO_AGENTS = "no-agents" {
        cause: "A suite has no agent, so there is nothing to grade.",
        example: "goldgate.yaml:4:5: the suite \"contracts\" has no agents; add agents, each with the source of its \
            runs [no-agents]",
        fix: "Add `agents: { NAME: { deterministic: { replay: FOLDER } } }`.",
    }

    NO_BASELINE = "no-baseline" {
        cause: "A baseline is to be read or written, but the config names none, or no numbers exist that could be \
            saved.",
        example: "goldgate.yaml: the config has no baseline; add baseline: baselines/latest.json [no-baseline]",
        fix: "Name the file of the baseline in the config. `goldgate run --update-baseline` writes it.",
    }

    NO_FOLDER = "no-folder" {
        cause: "Live runs are to be recorded, but nothing says where the recordings belong.",
        example: "goldgate.yaml: contracts/legal records, but has no folder to replay from; add deterministic: { \
            replay: FOLDER }, or use --record DIR [no-folder]",
        fix: "Name the folder of the recordings in the config, or on the command line with `--record`.",
    }

    NO_RATIONALE = "no-rationale" {
        cause: "A suite changes how results are scored but does not say why. Numbers with other weights cannot be \
            compared without it.",
        example: "goldgate.yaml:10:5: the scoring differs from the default without a rationale; add rationale: the \
            reason, for readers of the numbers [no-rationale]",
        fix: "Add `rationale` with one sentence, or remove the changes.",
    }

    NO_SOURCE = "no-source" {
        cause: "An agent has no source of runs in a tier of its suite.",
        example: "goldgate.yaml:8:7: the agent \"legal\" has no source in the tier deterministic; add deterministic: { \
            replay: FOLDER } [no-source]",
        fix: "Name the folder with the agent's recordings, or remove the agent or the tier.",
    }

    NO_SUITES = "no-suites" {
        cause: "The config has no suites, so there is nothing to grade.",
        example: "goldgate.yaml:2:1: the config has no suites; add at least one suite [no-suites]",
        fix: "Add a suite with `id`, `kind`, `path` and `agents`. The README has a complete example.",
    }

    NO_TERMS = "no-terms" {
        cause: "A file with a list of terms has no term, so it would match nothing.",
        example: "terms/refusals.txt: the list has no term; write one term a line [no-terms]",
        fix: "Write one word or phrase a line, or remove the list from the suite.",
    }

    RUNS_OF = "runs-of" {
        cause: "A suite that grades the runs of another suite does not name it, or a suite of another kind names one.",
        example: "goldgate.yaml:15:5: the suite \"together\" has no runs_of; name the suite whose runs it grades \
            together [runs-of]",
        fix: "A `cross_agent` suite needs `runs_of: SUITE`. Remove the key from other kinds.",
    }

    UNKNOWN_AGENT_FILES = "unknown-agent-files" {
        cause: "Recordings are replayed, but the config does not say which files make up the agent. goldgate could not \
            tell when the recordings are too old.",
        example: "goldgate.yaml:7:7: the agent \"legal\" has recordings, but the config does not name the files of the \
            agent; name its prompts, tools and sources: fingerprint: [prompts/**], or give the reason why that is \
            impossible: fingerprint: { none: \"why\" } [unknown-agent-files]",
        fix: "Add `fingerprint` with patterns of the agent's prompts, tools and code.",
    }

    UNKNOWN_KIND = "unknown-kind" {
        cause: "A suite has a kind that does not exist. The kind decides what is graded and how.",
        example: "goldgate.yaml:5:5: unknown kind \"finding\"; did you mean \"findings\"? [unknown-kind]",
        fix: "Use one of the kinds in the README.",
    }

    UNKNOWN_METRIC = "unknown-metric" {
        cause: "A gate names a metric that the suite's kind does not measure, or a report has other metrics than this \
            version of goldgate.",
        example: "goldgate.yaml:7:14: unknown metric \"finding_recal\"; did you mean \"finding_recall\"? \
            [unknown-metric]",
        fix: "`docs/metrics.md` lists the metrics of each kind.",
    }

    UNKNOWN_SUITE = "unknown-suite" {
        cause: "A suite names another suite that the config does not have.",
        example: "goldgate.yaml:15:14: no suite is called \"contract\"; the suites are contracts, together \
            [unknown-suite]",
        fix: "Use the `id` of a suite of this config.",
    }

    UNKNOWN_TARGET = "unknown-target" {
        cause: "An agent, a judge or a case names a target that the config does not define.",
        example: "goldgate.yaml:8:16: no target is called \"claude\"; add it under targets [unknown-target]",
        fix: "Define the target under `targets`, or correct the name. `docs/targets.md` has examples.",
    }

    UNKNOWN_VERSION = "unknown-version" {
        cause: "The config says that it is of a version that this goldgate does not know.",
        example: "goldgate.yaml:1:1: unknown version 2; this goldgate reads version 1; a newer file needs a newer \
            goldgate [unknown-version]",
        fix: "Write `version: 1`, or use a newer goldgate.",
    }
}
