//! Codes of rules that hold for every file.

use crate::diag::code::{Code, CodeSection, CodeText, codes};

codes! {
    "Files and values", "Rules that hold for every file goldgate reads";

    BAD_DATE = "bad-date" {
        cause: "A date is not written as year, month and day with hyphens.",
        example: "golden/tasks/lookup.json:31:18: invalid date \"22.11.2026\"; write it as YYYY-MM-DD [bad-date]",
        fix: "Write the date like `2026-11-22`.",
    }

    BAD_GLOB = "bad-glob" {
        cause: "A pattern of names is not valid, or it leads out of the repository.",
        example: "command line: --case a[: unclosed character class; missing ']'; write a pattern such as 'lease-*' \
            [bad-glob]",
        fix: "Use `*` for any characters inside a name and `**` for any folders. Quote the pattern on the command \
            line, so that the shell leaves it alone.",
    }

    BAD_ID = "bad-id" {
        cause: "The name of a suite, an agent, a case or a judge contains characters that file names and keys cannot \
            share.",
        example: "goldgate.yaml:4:11: \"my suite\" is not a valid id; use letters, digits, '.', '_' and '-', and start \
            with a letter or digit [bad-id]",
        fix: "Rename it, with hyphens for spaces. The id of a case is often the name of its file: rename the file and \
            its recordings together.",
    }

    BAD_KEY = "bad-key" {
        cause: "A key of a YAML mapping is a list, a mapping, a number or another value that is not a string.",
        example: "goldgate.yaml:4:3: this key is not a string; write a plain word as the key [bad-key]",
        fix: "Put quotes around the key, or correct the indentation.",
    }

    BAD_LINK = "bad-link" {
        cause: "The config, a golden file, a recording, the baseline or a file of the agent is a symbolic link, or is in a \
            folder that is one. The gate follows no link: two readers could follow it to different files.",
        example: "golden/contracts/lease.md: this is a symbolic link, which the gate does not follow; commit the file or \
            folder itself [bad-link]",
        fix: "Replace the link by the file or folder that it leads to, or name that path in the config.",
    }

    BAD_NUMBER = "bad-number" {
        cause: "A number is not finite, it is outside the range that its key allows, or it is a whole number too long \
            to be compared exactly (more than 64 bits).",
        example: "goldgate.yaml:9:29: max_drop is NaN; write a finite number [bad-number]",
        fix: "Write a number in the range that the message states.",
    }

    BAD_PATH = "bad-path" {
        cause: "A path in a golden file is not one that can be followed: it is empty, or it leads out of the \
            repository.",
        example: "stable/cases/rename.json:5:16: \"../src/a.rs\" is not a path inside the repository; write it \
            relative to the repository's root [bad-path]",
        fix: "Write the path as the message says.",
    }

    BAD_SAMPLES = "bad-samples" {
        cause: "The number of samples, which is how often one case runs, is below 1 or above 1000.",
        example: "goldgate.yaml:3:10: the number of samples is out of range; write 1 to 1000 [bad-samples]",
        fix: "Write a number from 1 to 1000.",
    }

    BAD_VALUE = "bad-value" {
        cause: "A value has the right type, but its content does not fit.",
        example: "agents/cases/rent.json:6:7: not a valid expected finding: missing field `category`; write it as in \
            expected/{agent}/{contract}.json [bad-value]",
        fix: "Correct the value at this position. The page of the suite's kind in `docs/kinds` describes each key.",
    }

    BROKEN_JSON = "broken-json" {
        cause: "The file is not valid JSON: something is missing, left over or cut off at this position.",
        example: "golden/expected/legal/lease.json:12:3: invalid JSON: trailing comma; correct the syntax here \
            [broken-json]",
        fix: "Look at the position and just before it for a missing comma, quote or bracket. Check whether the file \
            was written completely.",
    }

    BYTE_ORDER_MARK = "byte-order-mark" {
        cause: "The file starts with three invisible bytes that some editors add to mark UTF-8. They are not part of \
            JSON or YAML.",
        example: "goldgate.yaml:1:1: the file starts with a byte order mark; save it as UTF-8 without a BOM \
            [byte-order-mark]",
        fix: "Choose \"UTF-8\", not \"UTF-8 with BOM\", when you save the file.",
    }

    CONTRADICTION = "contradiction" {
        cause: "Two statements exclude each other, so one of them must be wrong.",
        example: "command line: --update-baseline with --case would save numbers of only some cases; omit --case \
            [contradiction]",
        fix: "Decide which of the two is meant, and remove the other one.",
    }

    DUPLICATE_ID = "duplicate-id" {
        cause: "Two things of one list have the same id, so their results could not be distinguished.",
        example: "tools.json:10:13: duplicate tool \"call\"; give each tool its own name [duplicate-id]",
        fix: "Rename one of them, or remove it if it was copied by mistake.",
    }

    DUPLICATE_KEY = "duplicate-key" {
        cause: "One object of JSON or YAML has the same key twice. Most programs would silently use only one of the \
            values.",
        example: "goldgate.yaml:7:3: duplicate key \"agents\"; keep one of them [duplicate-key]",
        fix: "Merge the two values under one key, or remove one of them.",
    }

    EMPTY_TEXT = "empty-text" {
        cause: "A text that must say something is empty or has only spaces.",
        example: "tools.json:3:36: the description of a tool is empty; write it, or remove it [empty-text]",
        fix: "Fill in the text, or remove the whole entry.",
    }

    LFS_POINTER = "lfs-pointer" {
        cause: "A file is in Git LFS, and Git has only a pointer to its content. A checkout without `git lfs pull` \
            contains the pointer, and so does every other commit, such as the base commit.",
        example: "golden/cases.json:1:1: this is a Git LFS pointer, not the file itself; get the file with `git lfs pull` \
            (`lfs: true` of actions/checkout); a golden file that changes cannot be in Git LFS, because the base commit's \
            content is not fetched from it [lfs-pointer]",
        fix: "Check out with `lfs: true`. If a golden file in Git LFS changed, take it out of Git LFS (`git lfs untrack`) in \
            a pull request of its own.",
    }

    MACHINE = "machine" {
        cause: "The machine cannot read the file now: the process may open no more files, memory is used up, or the disk \
            fails. The file itself may be fine. The exit code is 3.",
        example: "goldgate.yaml: the file cannot be read: too many open files; give this process more files or memory \
            (ulimit -a), or check the disk [machine]",
        fix: "Raise the limit (`ulimit -n 1024`), free memory, or check the disk. Then run again.",
    }

    MISSING_FILE = "missing-file" {
        cause: "A file that the config, an option or another file names does not exist.",
        example: "prompts/reviewer.md: the file does not exist; create it, or correct the path that names it \
            [missing-file]",
        fix: "Look for a typing error in the path. Paths in a config are relative to the folder of the config. On \
            GitHub a file exists only if it is committed.",
    }

    MISSING_FOLDER = "missing-folder" {
        cause: "A folder that the config, an option or a golden file names does not exist.",
        example: "golden/contracts: the folder does not exist; create it, or correct the path that names it \
            [missing-folder]",
        fix: "Look for a typing error in the path. Git does not store empty folders: a folder needs at least one \
            committed file.",
    }

    MISSING_KEY = "missing-key" {
        cause: "An object lacks a key that it must have.",
        example: "tools.json:8:108: the key \"says\" is missing; add \"says\" [missing-key]",
        fix: "Add the key. `goldgate schema` lists the schemas of all files, which name each key.",
    }

    NO_EFFECT = "no-effect" {
        cause: "A key, an entry or an option changes nothing here. Whoever wrote it expected something that does not \
            happen.",
        example: "goldgate.yaml:14:7: role has no effect on kind findings; remove role [no-effect]",
        fix: "Remove it, or add what it needs to work.",
    }

    NO_REASON = "no-reason" {
        cause: "Something that weakens a check, or a judgement of a person, has no reason that a later reader could \
            weigh.",
        example: "goldgate.yaml:9:14: a gate is disabled without a reason; add reason: why the default gate does not \
            apply here [no-reason]",
        fix: "Write the reason in one sentence for the next person who reads the file.",
    }

    NOT_UTF8 = "not-utf8" {
        cause: "The file, or the name of a file, is not encoded as UTF-8.",
        example: "golden/contracts/lease.md:3:17: byte 0xE4 is not UTF-8; save the file as UTF-8 [not-utf8]",
        fix: "Save the file again as UTF-8, or rename it with plain characters.",
    }

    PATH_OUTSIDE = "path-outside" {
        cause: "A path leads out of the repository. goldgate reads nothing outside it, so that a result depends only \
            on committed files.",
        example: "goldgate.yaml:6:11: the path \"../golden\" leaves the repository; write a path relative to this \
            file, inside the repository [path-outside]",
        fix: "Copy or move the files into the repository and name them there.",
    }

    SUBMODULE_NOT_CHECKED_OUT = "submodule-not-checked-out" {
        cause: "A folder that goldgate reads contains a Git submodule that is not checked out. Its files would be left out.",
        example: "prompts/shared: the folder is in a submodule that is not checked out, so its files are not known; \
            check it out (`git submodule update --init`, `submodules: recursive` of actions/checkout), or \
            remove the folder if it is not a submodule [submodule-not-checked-out]",
        fix: "Check out submodules in the job, for example with `submodules: recursive` of `actions/checkout`. If the \
            agent does not use these files, name narrower patterns in `fingerprint`.",
    }

    TOO_DEEP = "too-deep" {
        cause: "The file has values inside values inside values, beyond a limit that keeps reading it fast and safe.",
        example: "goldgate.yaml:5:130: this is nested more than 64 levels deep; flatten it [too-deep]",
        fix: "Check for brackets that are never closed. No file of goldgate needs such a depth.",
    }

    TOO_LARGE = "too-large" {
        cause: "The file is larger than goldgate reads.",
        example: "golden/contracts/archive.md: the file is larger than 32 MiB; split it, or remove parts that are not \
            graded [too-large]",
        fix: "Make several cases of it, or remove what no case needs.",
    }

    TOO_MANY_FILES = "too-many-files" {
        cause: "A folder that is read as a whole has too many files, or folders too deep inside each other.",
        example: "fixtures/repository: more than 200000 files; divide the folder over several suites [too-many-files]",
        fix: "Name the folder with the files that matter. Remove build results and downloaded packages from it.",
    }

    UNKNOWN_KEY = "unknown-key" {
        cause: "A key is not one that goldgate knows here, so its value would be ignored.",
        example: "goldgate.yaml:12:5: unknown key \"tresholds\"; did you mean \"thresholds\"? [unknown-key]",
        fix: "Correct the spelling or the indentation, or remove the key. `goldgate schema` prints the schemas of all \
            files.",
    }

    UNKNOWN_SCHEMA = "unknown-schema" {
        cause: "The file says that it has another format than the one that is read here, or an option names a format \
            that does not exist.",
        example: "baselines/latest.json:2:13: unknown schema \"goldgate.baseline/9\"; this version reads \
            \"goldgate.baseline/1\"; a newer file needs a newer goldgate [unknown-schema]",
        fix: "Check that the right file is named. If a newer goldgate wrote it, use that version.",
    }

    UNKNOWN_VALUE = "unknown-value" {
        cause: "A word is not one of the words that this key accepts.",
        example: "labels.json:2:35: unknown dimension \"atom_clarty\"; did you mean \"atom_clarity\"? [unknown-value]",
        fix: "Use one of the words that the message lists.",
    }

    UNREADABLE = "unreadable" {
        cause: "A file, a folder or standard input exists but cannot be read, often because of permissions.",
        example: "golden/expected/legal/lease.json: the file cannot be read: permission denied; make it a readable \
            file inside the repository [unreadable]",
        fix: "Check the permissions and the type of the file. A folder cannot be read as a file.",
    }

    WRONG_TYPE = "wrong-type" {
        cause: "A value has another type than the key needs, such as a number where a list belongs.",
        example: "goldgate.yaml:2:10: samples: invalid type: string \"three\"; expected a whole number, 0 or more \
            [wrong-type]",
        fix: "Write the value as the message says. In YAML, quotes make a text, and a hyphen starts an entry of a \
            list.",
    }

    YAML_ONLY = "yaml-only" {
        cause: "A case in YAML uses something that JSON does not have: an anchor, an alias, a tag, a merge key or a second document. A \
            case means the same in both formats, and shows all that it expects.",
        example: "golden/cases.yaml:7:9: an alias refers to another part, which cases do not allow; write the value out \
            [yaml-only]",
        fix: "Write the value out where it is needed. Put quotes around a text that looks like something else.",
    }
}
