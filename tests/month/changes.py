"""The pull requests of the month: what each changes, in which order, and what an honest reader would say of it."""

import json
import re
from dataclasses import dataclass
from typing import Callable, Optional

from repositories import add_case, case_names, correct_expectation, record, remove_case, remove_recordings, write_json

# What the developer does before the push, by kind of change, because he knows that he has to.
RECORD = "records the agents that changed again"
RECORD_NEW = "records the new case"
RECORD_ALL = "records everything again"
BASELINE = "writes the baseline"
NOTHING = "nothing"

HABITS = {
    "prompt wording": RECORD,
    "improvement": RECORD,
    "refactor of sources": NOTHING,
    "model upgrade": RECORD,
    "new case": RECORD_NEW,
    "expectation": NOTHING,
    "case removed": NOTHING,
    "rename": NOTHING,
    "new tool": RECORD,
    "docs": NOTHING,
    "dependency": NOTHING,
    "formatting": NOTHING,
    "revert": NOTHING,
    "conflict": RECORD,
    "two branches": RECORD,
    "baseline bump": BASELINE,
    "backport": NOTHING,
    "move": NOTHING,
    "new gate": NOTHING,
    "stack and squash": RECORD,
    "recorded by CI": RECORD,
    "regression": RECORD,
}

# Why a pull request may be stopped, to an honest reader. Any other stop is a false block.
PERSON = "a person's decision"
SLIP = "the author's slip"
# A change that cannot alter an answer. A stop is a false block, counted by itself.
NO_OP = "cannot alter an answer"


@dataclass
class PullRequest:
    """One pull request. `change` edits the files and returns the suites whose agents it changed."""

    name: str
    kind: str
    change: Callable
    reason: str = ""
    habit: Optional[str] = None
    # What happens to the files after recording, before the push: a slip, or a baseline.
    after_recording: Optional[Callable] = None
    # What a colleague merges after this branch began.
    meanwhile: Optional[Callable] = None
    # The developer merges main, and records again, before the push.
    merges_first: bool = False
    # The files are committed by the developer, and the recordings by a bot.
    by_bot: bool = False
    # How this one begins its branch, if not with `git switch -c`.
    begin: Optional[Callable] = None
    onto: str = "main"

    def habit_before_push(self):
        return self.habit or HABITS[self.kind]


# Changes. Each returns the suites whose agents it changed.


def suite_at(repository, number):
    """The team's changes go round its suites."""
    return repository.suites[number % len(repository.suites)]


def change_rule(repository, suite, number, words):
    """Changes the words of one rule of a prompt."""
    path = repository.prompt(suite)
    text = repository.read(path)
    changed = re.sub(rf"^(Rule {number}): .*$", rf"\1: {words}", text, flags=re.MULTILINE)
    assert changed != text, f"rule {number} of {path} did not change"
    repository.write(path, changed)
    return [suite]


def wording(number, rule):
    words = f"{WORDS[number % len(WORDS)]} (edition {number})"
    return lambda repository: change_rule(repository, suite_at(repository, number), rule, words)


WORDS = ["be clear.", "be exact.", "read twice.", "name the place.", "say it plainly.", "keep to the text."]


def colleague(rule):
    """What a colleague merges: the first suite's prompt in other words, recorded."""
    def merge(repository):
        suite = repository.suites[0]
        change_rule(repository, suite, rule, f"look at the end of the text, too (rule of a colleague, {rule}).")
        record(repository, suite)
    return merge


def colleague_on_last(rule):
    """A colleague changes the prompt of the suite that gets the new cases."""
    def merge(repository):
        suite = repository.suites[-1]
        change_rule(repository, suite, rule, "take the last suite seriously, too.")
        record(repository, suite)
    return merge


def colleague_with_baseline(rule):
    def merge(repository):
        colleague(rule)(repository)
        write_baseline(repository)
    return merge


def write_baseline(repository):
    repository.goldgate("run", "--update-baseline", "-q")


def improvement(number, rule):
    return lambda repository: change_rule(repository, suite_at(repository, number), rule, f"Check once more: item {number}.")


def improvement_and_expectation(number, rule):
    def change(repository):
        suite = repository.suites[0]
        correct(repository, suite, 2)
        return change_rule(repository, suite, rule, f"Check once more: item {number}.")
    return change


def correct(repository, suite, index):
    names = [name for name in case_names(repository, suite) if not name.startswith("new")]
    correct_expectation(repository, suite, names[index])


def expectation(index):
    def change(repository):
        suite = repository.suites[0] if index % 2 else repository.suites[-1]
        correct(repository, suite, index)
        return []
    return change


def source(repository, old, new):
    """Edits the source that all agents share."""
    path = next(path for path in ("src/texts.py", "src/words.py") if repository.path(path).exists())
    repository.replace(path, old, new)
    return repository.suites


def comment(repository):
    return source(repository, "    return text", "    # The limit is in characters.\n    return text")


def type_hints(repository):
    return source(repository, "def shorten(text, limit=4000):", "def shorten(text: str, limit: int = 4000) -> str:")


def extract_function(repository):
    function = "    return first(text, limit)\n\n\ndef first(text, limit):\n    return text[:limit]"
    return source(repository, "    return text[:limit]", function)


def rename_module(repository):
    repository.git("mv", "src/texts.py", "src/words.py")
    for suite in repository.suites:
        path = f"src/{suite.agent}.py"
        repository.replace(path, "import texts", "import words")
        repository.replace(path, "texts.shorten", "words.shorten")
    return repository.suites


def docstring(repository):
    return source(repository, "the agents do with texts.", "all agents do with texts.")


def blank_line(repository):
    """What a formatter does to a source."""
    return source(repository, "\n\n\ndef shorten", "\n\n\n\ndef shorten")


def blank_line_in_prompt(repository):
    suite = repository.suites[0]
    path = repository.prompt(suite)
    repository.write(path, repository.read(path) + "\n")
    return [suite]


def model_upgrade(name):
    def change(repository):
        path = "src/settings.json"
        settings = json.loads(repository.read(path))
        settings["model"] = name
        repository.write(path, json.dumps(settings) + "\n")
        return repository.suites
    return change


def new_case(number):
    """A new case of the last suite: its content is easy to write."""
    def change(repository):
        suite = repository.suites[-1]
        add_case(repository, suite, f"new-{number}")
        return [suite]
    return change


def case_removed(index, with_recordings):
    def change(repository):
        suite = repository.suites[-1]
        name = case_names(repository, suite)[index]
        remove_case(repository, suite, name)
        if with_recordings:
            remove_recordings(repository, suite, name)
        return []
    return change


def rename_suite(repository):
    suite = repository.suites[0]
    old = repository.suite_name(suite)
    new = f"{old}-of-acme"
    note = f"\n    was: {old}" if repository.program.says_was else ""
    repository.replace("goldgate.yaml", f"id: {old}\n", f"id: {new}{note}\n")
    repository.rename(f"suite {suite.name}", new)
    return []


def rename_agent(repository):
    """The agent's name is in the config, in folders, and in its recordings."""
    suite = repository.suites[-1]
    old = repository.agent_name(suite)
    new = f"acme-{old}"
    note = f"\n        was: {old}" if repository.program.says_was else ""
    repository.replace("goldgate.yaml", f"      {old}:\n", f"      {new}:{note}\n")
    old_folder = repository.run_folder(suite)
    expected = f"{repository.golden(suite)}/expected"
    repository.rename(f"agent {suite.agent}", new)
    repository.git("mv", old_folder, repository.run_folder(suite))
    if repository.path(f"{expected}/{old}").exists():
        repository.git("mv", f"{expected}/{old}", f"{expected}/{new}")
    for path in repository.path(repository.run_folder(suite)).rglob("*.json"):
        path.write_text(path.read_text().replace(f'"agent": "{old}"', f'"agent": "{new}"'))
    return []


def new_tool(name):
    def change(repository):
        for suite in repository.suites:
            if suite.kind == "chat":
                path = f"{repository.golden(suite)}/tools.json"
                tools = json.loads(repository.read(path))
                write_json(repository, path, [*tools, {**tools[0], "name": name, "description": name}])
        write_json(repository, f"src/{name}.json", {"name": name})
        return repository.suites
    return change


def append(path, text):
    def change(repository):
        repository.write(path, (repository.read(path) if repository.path(path).exists() else "") + text)
        return []
    return change


def patch_version(repository):
    repository.replace("src/requirements.lock", "1.4.2", "1.4.3")
    return repository.suites


def root_dependency(repository):
    repository.replace("requirements.txt", "2.32.0", "2.32.3")
    return []


def format_config(repository):
    repository.replace("goldgate.yaml", "version: 1\n", "# The gate of Acme's agents.\nversion: 1\n\n")
    repository.replace("goldgate.yaml", "'src/**'", '"src/**"')
    return []


def format_json(repository):
    """Golden files and recordings, as a formatter with four spaces writes them."""
    for folder in ("golden", "runs"):
        for path in repository.path(repository.place(folder)).rglob("*.json"):
            path.write_text(json.dumps(json.loads(path.read_text()), indent=4, ensure_ascii=False) + "\n")
    return []


def revert(repository):
    """Takes back what was merged last."""
    take(repository, "revert", repository.last_merged)
    return []


def begin_backport(repository, branch):
    """The release branch is where main was before the last merge."""
    repository.git("branch", "-f", "release", f"{repository.last_merged}^1")
    repository.git("switch", "-q", "-c", branch, "release")


def backport(repository):
    take(repository, "cherry-pick", repository.last_merged)
    return []


def take(repository, command, commit):
    parents = repository.git("rev-list", "--parents", "-n", "1", commit).stdout.split()[1:]
    repository.git(command, "--no-commit", *(["-m", "1"] if len(parents) > 1 else []), commit)


def move(repository):
    """Prompts, golden set and recordings move to other folders, and the config follows."""
    for folder, new in (("prompts", "agent/prompts"), ("golden", "tests/golden"), ("runs", "tests/runs")):
        repository.path(new).parent.mkdir(exist_ok=True)
        repository.git("mv", folder, new)
        repository.rename(folder, new)
    text = repository.read("goldgate.yaml")
    text = text.replace("prompts/", "agent/prompts/").replace("path: golden/", "path: tests/golden/")
    text = text.replace("tools: golden/", "tools: tests/golden/").replace("replay: runs", "replay: tests/runs")
    repository.write("goldgate.yaml", text)
    return []


def new_gate(repository):
    """A gate that every month passes."""
    suite = repository.suites[0]
    name = {"findings": "quote_grounding", "chat": "tool_recall", "interview": "atom_recall"}[suite.kind]
    gate = f"{name}: {{ min: 0.5 }}"
    if suite.gates:
        repository.replace("goldgate.yaml", f"gates: {suite.gates}", f"gates: {suite.gates[:-2]}, {gate} }}")
    else:
        repository.replace("goldgate.yaml", "    agents:\n", f"    gates: {{ {gate} }}\n    agents:\n")
    return []


def begin_stack(repository, branch):
    """The branch is on top of another one, which is squashed into main; then it is put on main."""
    repository.git("switch", "-q", "-c", "below", "main")
    suite = repository.suites[0]
    change_rule(repository, suite, 19, "ask where it is unclear, and only there.")
    record(repository, suite)
    repository.commit("Change rule 19")
    repository.git("switch", "-q", "-c", branch, "below")
    wording(90, 17)(repository)
    record(repository, suite_at(repository, 90))
    repository.commit("Change rule 17")
    repository.git("switch", "-q", "main")
    repository.git("merge", "-q", "--squash", "below")
    repository.commit("Change rule 19 (squashed)")
    repository.git("rebase", "-q", "--onto", "main", "below", branch)
    repository.git("switch", "-q", branch)


def no_further_change(_repository):
    return []


def brief(repository):
    return change_rule(repository, repository.suites[0], 6, "Be as brief as possible.")


def half_of_the_text(repository):
    return source(repository, "text[:limit]", "text[:limit // 2]")


def rule_removed(repository):
    return change_rule(repository, repository.suites[0], 3, "(Rule 3 was removed.)")


def fix_typo(suite_number, rule):
    """A typo that the author sees only after recording."""
    def slip(repository):
        path = repository.prompt(suite_at(repository, suite_number))
        text = repository.read(path)
        repository.write(path, re.sub(rf"^(Rule {rule}: .*)\(edition", r"\1(Edition", text, flags=re.MULTILINE))
    return slip


FORMATTED_RULE = 9


def wording_and_docstring(repository):
    change_rule(repository, repository.suites[0], FORMATTED_RULE, "never guess, ask.")
    return source(repository, "What ", "All that ")


def month():
    """The pull requests in the order in which they are merged."""
    return [
        PullRequest("word1", "prompt wording", wording(0, 4)),
        PullRequest("docs1", "docs", append("docs/guide.md", "\nAsk Subject B.\n")),
        PullRequest("impr1", "improvement", improvement(0, 1)),
        PullRequest("refa1", "refactor of sources", comment, NO_OP),
        PullRequest("case1", "new case", new_case(1)),
        PullRequest("word2", "prompt wording", wording(1, 5)),
        PullRequest("upgr1", "model upgrade", model_upgrade("model-b")),
        PullRequest("expe1", "expectation", expectation(3), PERSON),
        PullRequest("word3", "prompt wording", wording(2, 7), SLIP, after_recording=fix_typo(2, 7)),
        PullRequest("impr2", "improvement", improvement(1, 2)),
        PullRequest("regr1", "regression", brief),
        PullRequest("bump1", "baseline bump", no_further_change, PERSON),
        PullRequest("depe1", "dependency", root_dependency),
        PullRequest("word4", "prompt wording", wording(3, 8)),
        PullRequest("reve1", "revert", revert),
        PullRequest("case2", "new case", new_case(2)),
        PullRequest("refa2", "refactor of sources", type_hints, NO_OP, habit=RECORD),
        PullRequest("conf1", "conflict", wording(6, 4), meanwhile=colleague(12), merges_first=True),
        PullRequest("form1", "formatting", format_config),
        PullRequest("word5", "prompt wording", wording_and_docstring, SLIP, after_recording=blank_line),
        PullRequest("tool1", "new tool", new_tool("calendar")),
        PullRequest("remo1", "case removed", case_removed(4, with_recordings=True), PERSON),
        PullRequest("impr3", "improvement", improvement(2, 3)),
        PullRequest("rena1", "rename", rename_suite),
        PullRequest("word6", "prompt wording", wording(5, 10)),
        PullRequest("back1", "backport", backport, begin=begin_backport, onto="release"),
        PullRequest("docs2", "docs", append("README.md", "\nSee the guide.\n")),
        PullRequest("regr2", "regression", half_of_the_text),
        PullRequest("refa3", "refactor of sources", extract_function, NO_OP),
        PullRequest("case3", "new case", new_case(3), SLIP, habit=NOTHING),
        PullRequest("expe2", "expectation", expectation(6), PERSON),
        PullRequest("word7", "prompt wording", wording(6, 11)),
        PullRequest("two1", "two branches", new_case(4), SLIP, habit=RECORD_NEW, meanwhile=colleague_on_last(13)),
        PullRequest("upgr2", "model upgrade", model_upgrade("model-c")),
        PullRequest("form2", "formatting", format_json),
        PullRequest("gate1", "new gate", new_gate),
        PullRequest("word8", "prompt wording", wording(7, 13)),
        PullRequest("reve2", "revert", revert),
        PullRequest("impr4", "improvement", improvement_and_expectation(0, 15), PERSON),
        PullRequest("depe2", "dependency", append("web/package.json", '{ "dependencies": { "left": "1.0.1" } }\n')),
        PullRequest("regr3", "regression", rule_removed),
        PullRequest("word9", "prompt wording", wording(9, 14), meanwhile=colleague(18)),
        PullRequest("refa4", "refactor of sources", rename_module, NO_OP),
        PullRequest("case4", "new case", new_case(5), habit=RECORD_ALL),
        PullRequest("stack1", "stack and squash", no_further_change, habit=NOTHING, begin=begin_stack),
        PullRequest("bump2", "baseline bump", no_further_change, PERSON),
        PullRequest("form3", "formatting", blank_line, NO_OP),
        PullRequest("word10", "prompt wording", wording(10, 16)),
        PullRequest("back2", "backport", backport, begin=begin_backport, onto="release"),
        PullRequest("two2", "two branches", wording(12, 20), meanwhile=colleague(5)),
        PullRequest("expe3", "expectation", expectation(5), PERSON),
        PullRequest("impr5", "improvement", improvement(4, 6)),
        PullRequest("conf2", "conflict", wording(15, 7), PERSON, meanwhile=colleague_with_baseline(16),
                    after_recording=write_baseline, merges_first=True),
        PullRequest("docs3", "docs", append("goldgate.yaml", "# Questions: Subject B.\n")),
        PullRequest("depe3", "dependency", patch_version, NO_OP),
        PullRequest("tool2", "new tool", new_tool("weather")),
        PullRequest("rena2", "rename", rename_agent),
        PullRequest("regr4", "regression", model_upgrade("model-small")),
        PullRequest("ci1", "recorded by CI", wording(18, 4), by_bot=True),
        PullRequest("remo2", "case removed", case_removed(6, with_recordings=False), PERSON),
        PullRequest("word11", "prompt wording", wording(11, 8)),
        PullRequest("move1", "move", move),
        PullRequest("upgr3", "model upgrade", model_upgrade("model-d")),
        PullRequest("refa5", "refactor of sources", docstring, NO_OP),
        PullRequest("impr6", "improvement", improvement(5, 10)),
        PullRequest("form4", "formatting", blank_line_in_prompt, NO_OP),
        PullRequest("word12", "prompt wording", wording(14, 18)),
    ]
