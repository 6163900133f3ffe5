//! Codes of problems on GitHub: workflows, settings and inputs of the action.

use crate::diag::code::{Code, CodeSection, CodeText, codes};

codes! {
    "GitHub", "Problems in workflows, in settings of the repository and in inputs of the action";

    ANY_SOURCE = "any-source" {
        cause: "Any app may report the required check, so a pull request could report a pass by itself.",
        example: "rules of main: any app and any token with statuses: write may report the required check \
            \"goldgate\"; choose GitHub Actions as the source of the check [any-source]",
        fix: "Open the branch's rule in the settings, and choose GitHub Actions as the source of this check.",
    }

    BAD_FOLDER = "bad-folder" {
        cause: "Recordings would be written below `.github` or `.git`, where they could change workflows or the \
            repository itself.",
        example: ".github/runs/legal/lease.json: recordings must not be written here; name another folder after \
            replay:, outside of .github and .git [bad-folder]",
        fix: "Move the recordings of this agent to another folder, and change `replay` in the config.",
    }

    BAD_INPUT = "bad-input" {
        cause: "An input of the action has a value that it does not accept, or does not fit the mode or the event.",
        example: "action input: mode is \"check\"; write one of run, baseline-pr, record [bad-input]",
        fix: "Correct the input under `with` of the workflow. `action.yml` describes all inputs.",
    }

    BUILDS_FROM_SOURCE = "builds-from-source" {
        cause: "The workflow names a version of the action without a finished image, so each job compiles goldgate \
            first.",
        example: ".github/workflows/goldgate.yml: OWNER/goldgate@0123456789abcdef0123456789abcdef01234567 builds \
            goldgate from source in every job, which takes minutes; write the commit of a release after the @ \
            [builds-from-source]",
        fix: "Name the commit of a release after the `@`.",
    }

    CHECKED_OUT_PULL = "checked-out-pull" {
        cause: "A workflow on `pull_request_target` has a token that may write, and can read secrets. This one checks out the files \
            of the pull request, which the next step may run.",
        example: ".github/workflows/goldgate.yml:20:9: this checks out the pull request on pull_request_target, where the \
            token may write and secrets are readable; remove the step: goldgate reads the pull request as data \
            [checked-out-pull]",
        fix: "Remove the checkout. The gate reads both commits by the API.",
    }

    FILTERED = "filtered" {
        cause: "The workflow runs only for some paths or base branches. A required check that does not run stays \
            pending, and the pull request cannot be merged.",
        example: ".github/workflows/goldgate.yml:5:3: pull_request has paths: on a pull request that it leaves out, a \
            required check stays pending; remove paths; a run without changes takes seconds [filtered]",
        fix: "Remove the filter, or name the branch in it. If no agent changed, the run is fast.",
    }

    GROUPED_GATE = "grouped-gate" {
        cause: "The gate's job is in a concurrency group. GitHub cancels an older pending run of a group, whatever \
            `cancel-in-progress` says, and its required check is then missing with everything green.",
        example: ".github/workflows/goldgate.yml:18:3: this job is in a concurrency group, which cancels older pending \
            runs: a cancelled check counts as a failed one; remove concurrency; two runs at once do no harm [grouped-gate]",
        fix: "Remove `concurrency` from the workflow and from the job. Every run gives the whole verdict of now.",
    }

    IGNORED_FAILURE = "ignored-failure" {
        cause: "A step or job is allowed to fail, so a failing gate leaves the check green.",
        example: ".github/workflows/goldgate.yml:18:9: this step has continue-on-error: a failing gate leaves the job, \
            and so the check, green; remove continue-on-error [ignored-failure]",
        fix: "Remove `continue-on-error`. To report without blocking, use the input `blocking: false`.",
    }

    IMAGE_REFUSED = "image-refused" {
        cause: "The image of the action cannot be pulled without a login, so the job would fail at its start.",
        example: ".github/workflows/goldgate.yml: ghcr.io/OWNER/goldgate:1.2.0 cannot be pulled without a login (HTTP \
            401); ask the owner to make the package public [image-refused]",
        fix: "Ask the owner of the action to make the package public.",
    }

    MISSING_PERMISSION = "missing-permission" {
        cause: "The job's token lacks a right that the mode of the action needs.",
        example: ".github/workflows/goldgate.yml:12:3: mode run needs the permission pull-requests: write, to write \
            the comment; add `pull-requests: write` to the job [missing-permission]",
        fix: "Add the permission to the job. `docs/security.md` explains what each one is for.",
    }

    MISSING_TYPE = "missing-type" {
        cause: "The workflow does not start on an event that changes the result, so an old result would stay.",
        example: ".github/workflows/goldgate.yml:4:3: pull_request does not listen to edited, so a pull request whose \
            base branch changes keeps the verdict of the old one; add edited to its types [missing-type]",
        fix: "Add the type to the trigger.",
    }

    NO_ACTION = "no-action" {
        cause: "The version of the action that the workflow names does not exist, or the token may not see it.",
        example: ".github/workflows/goldgate.yml: OWNER/goldgate@0123456789abcdef0123456789abcdef01234567 does not \
            exist, or the token may not read it; write the commit of a release after the @ [no-action]",
        fix: "Check the owner, the name and the commit after the `@`.",
    }

    NO_BASE_CHECKOUT = "no-base-checkout" {
        cause: "A program of the config is to be started with keys, but the workspace does not have the files of the \
            base branch. The pull request could have changed the program.",
        example: "workspace: this is not a checkout of the base branch, so no command is started; \
            add actions/checkout without ref before this step [no-base-checkout]",
        fix: "Check out the base branch before the step. `docs/recording.md` explains how pull requests are recorded.",
    }

    NO_BUDGET = "no-budget" {
        cause: "A pull request is to be recorded, which calls models, and nothing limits what that may cost.",
        example: "goldgate.yaml: no budget is set, so the pull request is not recorded; add budget: { \
            max_cost_usd: … } or { max_tokens: … } on the base branch, or set the input max-cost-usd [no-budget]",
        fix: "Write how much one recording may cost at most.",
    }

    NO_COMMAND = "no-command" {
        cause: "The action runs in a container that has goldgate and nothing else, and the config starts a program for an agent of \
            this tier.",
        example: ".github/workflows/goldgate.yml:31:9: the container of the action has no \"python3\", which the config starts; \
            install goldgate with its action setup, and write `run: goldgate action` [no-command]",
        fix: "Run goldgate on the runner itself: `docs/runners.md` shows the step.",
    }

    NO_ENVIRONMENT = "no-environment" {
        cause: "Workflows on other branches, which anybody with write access can push, can read the models' keys.",
        example: ".github/workflows/goldgate-record.yml:26:3: the environment goldgate-record does not exist, and GitHub creates \
            it without a restriction; create it, keep the models' keys in it, and restrict it to the default branch \
            [no-environment]",
        fix: "Create the environment under *Settings → Environments*, allow only the default branch, and move the keys into it.",
    }

    NO_GATE = "no-gate" {
        cause: "No workflow of the repository runs goldgate in a way that can block a merge.",
        example: ".github/workflows: no workflow has a job that gives a blocking verdict; copy \
            docs/workflows/goldgate.yml of goldgate to .github/workflows [no-gate]",
        fix: "Copy the workflow from the README and commit it.",
    }

    NO_MERGE_GROUP = "no-merge-group" {
        cause: "The branch has a merge queue, but the workflow does not run in it. Its required check would stay \
            pending.",
        example: ".github/workflows/goldgate.yml:10:3: the branch has a merge queue, but this workflow does not listen \
            to merge_group: its required check stays pending in the queue; add merge_group: to its triggers \
            [no-merge-group]",
        fix: "Add `merge_group:` under `on:`.",
    }

    NO_PRICE = "no-price" {
        cause: "The budget is in US dollars, but the config does not say what a model costs.",
        example: "goldgate.yaml: the budget in US dollars cannot be kept, because claude-sonnet has no price; add it \
            under prices, or budget: { max_tokens: … }, on the base branch [no-price]",
        fix: "Add the model's price per million tokens under `prices`. The vendor's page has it.",
    }

    NO_RECORDER = "no-recorder" {
        cause: "Only recordings of `mode: record` count, and no workflow has that mode for this config, so a changed agent gets no \
            verdict.",
        example: "goldgate.yaml: only recordings of the recording workflow count, but no workflow has a step with mode: record \
            for this config; copy docs/workflows/goldgate-record.yml of goldgate to .github/workflows [no-recorder]",
        fix: "Copy the workflow, and give its step the input `config` if the config is not `goldgate.yaml`.",
    }

    NO_REPORT = "no-report" {
        cause: "A step needs the report of an earlier step, but it does not exist, or is for another config or commit.",
        example: "out/report.json: the report does not exist; add a step with mode: run and the same input out before \
            this one [no-report]",
        fix: "Run both steps in one job on the same commit, with the same inputs `config` and `out`.",
    }

    NO_RUN_NAME = "no-run-name" {
        cause: "A label approves what a run had shown before, and the name of the run says which commits it judged. The runs of \
            this workflow have no such name. A run that records has the number of the pull request in its name.",
        example: ".github/workflows/goldgate.yml:6:3: the name of its runs does not say which commits they judge, so no label \
            approves a result; write run-name: goldgate ${{ github.sha }} [no-run-name]",
        fix: "Write the `run-name` of the workflow in `docs/workflows`.",
    }

    NO_TOKEN = "no-token" {
        cause: "The setup on GitHub is to be checked, but the repository or the token is unknown.",
        example: "environment: check --github needs GITHUB_REPOSITORY (owner/name) and GITHUB_TOKEN; set both; `gh \
            auth token` prints a token [no-token]",
        fix: "Set `GITHUB_REPOSITORY=owner/name` and `GITHUB_TOKEN`, and run the command again.",
    }

    NOT_PINNED = "not-pinned" {
        cause: "The workflow names the action by a branch or a tag, which its owner can move to other code.",
        example: ".github/workflows/goldgate.yml: OWNER/goldgate@main is not pinned to a commit, so its owner can \
            change what judges your merges; write the commit of a release after the @ [not-pinned]",
        fix: "Write the 40 digits of a release's commit after the `@`.",
    }

    NOT_READ = "not-read" {
        cause: "The trusted gate reads only files that the config of the base branch names, and this one is not among \
            them.",
        example: "prompts/new.md: the base commit's config does not name this file, so the trusted gate has not read \
            it; keep it below the suite's folder, or name it in the config of the base branch [not-read]",
        fix: "Move the file below the folder of the suite, or merge the change of the config first.",
    }

    NOT_REQUIRED = "not-required" {
        cause: "The branch does not require the check of the gate, so a failing gate blocks nothing.",
        example: "rules of main: no check of the gate is required, so a failing gate does not block a merge into main; \
            require \"goldgate\"; see docs/branch-protection.md [not-required]",
        fix: "Require the check in the settings of the branch. `docs/branch-protection.md` shows where.",
    }

    OTHER_NAME = "other-name" {
        cause: "The branch requires a check that no job reports: it has another name, such as one with other capital letters, or its \
            workflow is missing. The required check stays pending for ever.",
        example: "rules of main: \"Goldgate\" is required, but the job's check is \"goldgate\"; a check that nobody \
            reports stays pending; require \"goldgate\" [other-name]",
        fix: "Require the exact name of the job's check, or add the workflow.",
    }

    OVER_BUDGET = "over-budget" {
        cause: "The requests alone cost more than the budget allows, so no model is called.",
        example: "goldgate.yaml: the requests have at least 250000 tokens, but the budget is 200000; change fewer or \
            smaller cases, or raise the budget on the base branch [over-budget]",
        fix: "Split the pull request, or raise the budget on the base branch first.",
    }

    PLACEHOLDER = "placeholder" {
        cause: "The workflow names the action as the template does, without an owner or a commit.",
        example: ".github/workflows/goldgate.yml:31:9: OWNER/goldgate@0000000000000000000000000000000000000000 is a placeholder, \
            so this workflow fails; write the owner and the commit of a release [placeholder]",
        fix: "Write the action of a release, or let `goldgate init --action` write it.",
    }

    QUEUE_GROUPING = "queue-grouping" {
        cause: "The merge queue merges an entry that fails, if the entry after it passes.",
        example: "rules of main: the merge queue merges a failing entry if a later entry passes; turn on \"Require all \
            queue entries to pass required checks\" [queue-grouping]",
        fix: "Change this setting of the merge queue.",
    }

    SKIPPABLE = "skippable" {
        cause: "The job or the step of the gate can be skipped. GitHub counts a skipped job as passed, and a job with \
            a skipped step passes.",
        example: ".github/workflows/goldgate.yml:12:3: this job has a condition: a skipped job counts as passed when \
            its check is required; remove the if of the job [skippable]",
        fix: "Remove the condition, and let the gate always run. Exceptions belong in the rules of the branch.",
    }
}
