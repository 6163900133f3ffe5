//! Codes of problems in recordings and transcripts.

use crate::diag::code::{Code, CodeSection, CodeText, codes};

codes! {
    "Recordings and transcripts", "Problems in recorded runs and in files that `goldgate import` reads";

    ANOTHER_INPUT = "another-input" {
        cause: "A transcript answers another question than the case asks, so it would be graded against the wrong \
            expectation.",
        example: "transcript.json:1:1: this run does not belong to the case \"hours\": its query is \"Where is my \
            order 17?\", but the case's is \"Are you open?\"; name its case with --case ID, or import it with an \
            unknown input with --force [another-input]",
        fix: "Import the run for the case that it answers.",
    }

    ANSWER_WITHOUT_CALL = "answer-without-call" {
        cause: "A transcript has the result of a tool, but the call that asked for it is missing.",
        example: "answer.json:2:2: the tool result \"c9\" matches no open call before it; provide the whole \
            conversation, including the message with the call [answer-without-call]",
        fix: "Export the whole conversation. Do not cut messages from its start.",
    }

    BAD_JUDGEMENTS = "bad-judgements" {
        cause: "The votes of judges in a recording are not as `goldgate judge` writes them.",
        example: "golden/runs/legal/lease.json:30:15: \"judgements\": a vote needs a verdict (fail, weak or pass) and \
            a reason; remove the votes, or let `goldgate judge` write them [bad-judgements]",
        fix: "Remove the votes and run `goldgate judge` again. Do not edit votes by hand.",
    }

    BAD_MESSAGE = "bad-message" {
        cause: "A message of a transcript cannot be read: it has no author, or a call without a name.",
        example: "call.json:1:2: this call has no \"name\"; use the format of the messages of a vendor's API [bad-message]",
        fix: "Write the messages as they were sent to the model or came from it.",
    }

    BROKEN_ARCHIVE = "broken-archive" {
        cause: "A compressed file to import is broken, unpacks to too much, or has paths that lead out of it.",
        example: "log.eval: the path \"../x.json\" in the archive leads outside the repository; write the log again, or as \
            .json [broken-archive]",
        fix: "Write or compress the file again. A huge log can be split.",
    }

    DIFFERENT_INPUTS = "different-inputs" {
        cause: "Several conversations would be samples of one case, but they answer different inputs. Samples repeat one input.",
        example: "chats.jsonl:2:1: this conversation asks \"Are you open?\", but the first one for the case \"order\" asks \
            \"Where is my order 17?\": they are not samples of one case; name each case: leave --case out, and name the \
            key of the case with --case-key PATH [different-inputs]",
        fix: "Give each conversation the id of its own case, next to its messages or with `--case-key PATH`.",
    }

    DUPLICATE_RECORDING = "duplicate-recording" {
        cause: "One case has two recordings of the same sample in the two allowed places.",
        example: "golden/runs/legal/lease.json: the case \"lease\" has two recordings of sample 0: this file and the \
            folder golden/runs/legal/lease; keep one of them [duplicate-recording]",
        fix: "Keep the file for one sample, or the folder for several.",
    }

    EMPTY_FILE = "empty-file" {
        cause: "The file to import has no content.",
        example: "empty.json:1:1: the file is empty; provide a transcript as JSON or JSON lines [empty-file]",
        fix: "Check whether the export of the transcript worked.",
    }

    FOREIGN_RECORDING = "foreign-recording" {
        cause: "A file among the recordings belongs to no case. Often the case was renamed or removed.",
        example: "golden/runs/legal/leese.json: this recording does not belong to any case of the suite \"contracts\"; \
            add its golden file, or remove it [foreign-recording]",
        fix: "Rename the recording to `{case}.json` or `{case}/{sample}.json`, or remove it.",
    }

    MANY_AGENTS = "many-agents" {
        cause: "Runs of several agents, models or prompts would become samples of one agent.",
        example: "out.json:2:40: this run is of \"openai-small, prompt 1\", but another one of its case is of \
            \"openai-large, prompt 1\"; import the results of one (`promptfoo eval --filter-providers …`), or of each as an \
            agent of its own: without --agent [many-agents]",
        fix: "Import the results of one of them; samples are repeated runs of the same agent.",
    }

    MANY_TRACES = "many-traces" {
        cause: "A file of traces has several runs, but only one case is named for all of them.",
        example: "traces.json:2:40: these are 3 traces, but --case hours names one case; name the attribute with \
            the case id: --case-key PATH [many-traces]",
        fix: "Put the id of the case on a span of each trace, and name this attribute.",
    }

    NO_AGENT = "no-agent" {
        cause: "A transcript does not say which agent made the run, or one command would be recorded as several agents.",
        example: "fine.json:1:1: this run has no agent name; use --agent NAME [no-agent]",
        fix: "Add `--agent NAME`, with the name of the agent in the config.",
    }

    NO_ANSWER = "no-answer" {
        cause: "A transcript ends before the model answered.",
        example: "unanswered.json:1:1: this transcript has no assistant message; provide the whole conversation, \
            including the model's answer [no-answer]",
        fix: "Export the conversation after the last answer.",
    }

    NO_CASE = "no-case" {
        cause: "A transcript does not say which case it answers.",
        example: "fine.json:1:1: this run has no case id; use --case ID, or name the key of the case with --case-key PATH \
            [no-case]",
        fix: "Add `--case ID`, with the id of a case of the suite.",
    }

    NO_MESSAGES = "no-messages" {
        cause: "An object of a transcript has no messages.",
        example: "second.jsonl:2:1: this object has no \"messages\"; provide a list of messages, or an object with \
            \"messages\", or with \"input\" and \"output\" [no-messages]",
        fix: "Leave the FORMAT of `goldgate import` out, and check that the file is a conversation.",
    }

    NO_RECORDING = "no-recording" {
        cause: "A case has no recording of an agent, so it cannot be graded without calling the agent.",
        example: "golden/runs/legal/lease.json: legal: the case \"lease\" has no recording; restore it \
            from git if it was lost, record what is missing: `goldgate run --tier model --suite contracts --agent legal \
            --record golden/runs --missing`, or remove its golden file [no-recording]",
        fix: "Record it with `goldgate run --tier model --record DIR`, or convert a transcript with `goldgate import`.",
    }

    NO_RUN = "no-run" {
        cause: "A file of traces has no span of a model or an agent.",
        example: "nothing.json:1:1: this file has no spans of a model, an agent or a tool; provide traces with \
            gen_ai.operation.name (GenAI conventions) or openinference.span.kind (OpenInference) [no-run]",
        fix: "Switch on the GenAI instrumentation of your tracing library, and export again. `docs/traces.md` has an \
            example.",
    }

    NO_TRANSCRIPT = "no-transcript" {
        cause: "A folder or a pattern was named to import, but it has no file of a known format.",
        example: "logs/*.json: no file matches this pattern; correct it; * matches within a folder, ** across folders \
            [no-transcript]",
        fix: "Correct the path. `docs/traces.md` lists the formats.",
    }

    OTHER_CASE = "other-case" {
        cause: "The runs of one file belong to different cases, but one case is named for all of them.",
        example: "runs.jsonl:2:1: this run has the case \"rent\", but the first one has \"lease\"; omit --case, or \
            split the file [other-case]",
        fix: "Leave out `--case`, so that each run goes to its own case.",
    }

    OTHER_FORM = "other-form" {
        cause: "Recordings of this case exist in the other layout. Both together would be ambiguous.",
        example: "golden/runs/legal/lease: the case already has recordings in the other layout: one file for one \
            sample, a folder for several; use --force to replace it, or another --out [other-form]",
        fix: "Use `--force`, if the new recordings replace the old ones.",
    }

    OTHER_SAMPLES = "other-samples" {
        cause: "The folder has recordings of more samples than the new import. Old and new samples would be mixed.",
        example: "golden/runs/legal/lease/4.json: this sample would be mixed with the new ones; use --force \
            to replace it, or another --out [other-samples]",
        fix: "Use `--force`, if the new samples replace all old ones.",
    }

    RECORD_OF_ANOTHER = "record-of-another" {
        cause: "A recording names another agent, case or sample than its path.",
        example: "golden/runs/legal/lease.json:3:3: the record says case \"rent\", its path says \"lease\"; move the \
            record to its own path, or correct the field [record-of-another]",
        fix: "Move the file to the path of its case. Do not copy a recording to make another case pass.",
    }

    STALE_RECORDING = "stale-recording" {
        cause: "A recording states that it was made with another agent, another input or another target, or it does not state that. \
            So it may say nothing about today's agent.",
        example: "goldgate.yaml: contracts/legal: 1 recording states no digests (lease.json), so a change of the agent asks for them; \
            if made with the present files: `goldgate stamp --suite contracts --agent legal`; `goldgate explain \
            stale-recording` tells more [stale-recording]",
        fix: "Record the agent again: `goldgate run --tier model --record DIR`. If the recordings are of the present files, or \
            if the change cannot alter an answer, `goldgate stamp` writes today's digests.",
    }

    TOO_MANY_SAMPLES = "too-many-samples" {
        cause: "A file to import has more runs of one case than are ever graded.",
        example: "golden/runs/legal/lease: this case has 1200 samples; a run grades at most 1000; split the file, or \
            add a case id to each run [too-many-samples]",
        fix: "Check whether the runs belong to different cases. If they do not, import fewer of them.",
    }

    UNKNOWN_FORMAT = "unknown-format" {
        cause: "A file to import has none of the known formats, or its content does not show which one.",
        example: "settings.json:1:1: the format of this file is not known; use one of the formats openai, \
            anthropic, otlp, inspect, langchain, langsmith, langfuse, promptfoo, openai-evals (docs/traces.md), or name the format before the path [unknown-format]",
        fix: "Check the path. If the file is a transcript, name its format: `goldgate import openai PATH`.",
    }

    UNKNOWN_STATUS = "unknown-status" {
        cause: "A recording says that its run ended in a way that goldgate does not know.",
        example: "golden/runs/legal/lease.json:2:13: unknown status \"done\"; known values: completed, error, timeout, \
            stalled, cancelled [unknown-status]",
        fix: "Write `completed` for a run with an answer, and one of the other words for a run without.",
    }

    WOULD_OVERWRITE = "would-overwrite" {
        cause: "A recording already exists at the place where the import would write.",
        example: "golden/runs/legal/lease.json: this recording already exists; use --force to replace it, or another \
            --out [would-overwrite]",
        fix: "Add `--force`, if the new run replaces the old one.",
    }
}
