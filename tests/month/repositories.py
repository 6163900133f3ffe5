"""The repositories of the month: what lies in them, how their cases change, and how they are recorded."""

import json
import os
import random
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import agents

TOOL = Path(__file__).resolve().parent
SAMPLES = 3


@dataclass
class Suite:
    """A suite with one agent, and how this team records it: `run` (goldgate calls the agent), `latency` and `bare` (a recorder of the
    team's own, with and without a time), `dated` and `messages` (logs for `goldgate import`, with and without date and usage)."""

    kind: str
    name: str
    agent: str
    recorder: str
    gates: str = ""


FINDINGS_GATES = "{ finding_recall: { min: 0.6 }, f1_score: { max_drop: 0.25 }, case_pass_rate: { max_drop: 0.3 } }"
CHAT_GATES = "{ case_pass_rate: { min: 0.88 } }"
INTERVIEW_GATES = "{ scenario_pass_rate: { min: 0.7 } }"
EVIDENCE_GATES = "{ task_pass_rate: { min: 0.6 }, task_passed: { max_drop: 0.4 }, grounding_passed: { max_drop: 0.4 } }"
INVOICES_GATES = "{ case_pass_rate: { min: 0.8 }, answer_pass_rate: { min: 0.8 } }"

VARIANTS = {
    "R1a": [Suite("findings", "contracts", "reviewer", "run", FINDINGS_GATES)],
    "R1b": [Suite("findings", "contracts", "reviewer", "latency", FINDINGS_GATES)],
    "R1c": [Suite("findings", "contracts", "reviewer", "bare", FINDINGS_GATES)],
    "R1d": [Suite("findings", "contracts", "reviewer", "run")],
    "R2a": [Suite("chat", "support", "helper", "dated", CHAT_GATES)],
    "R2b": [Suite("chat", "support", "helper", "messages", CHAT_GATES)],
    "R3": [
        Suite("interview", "interview", "interviewer", "run", INTERVIEW_GATES),
        Suite("evidence", "evidence", "inspector", "latency", EVIDENCE_GATES),
        Suite("invoices", "invoices", "clerk", "latency", INVOICES_GATES),
    ],
}

GOLDGATE_KINDS = {"chat": "tool_use", "invoices": "custom"}
CASES_AT_START = {"findings": 12, "chat": 25, "interview": 10, "invoices": 12}
INTERVIEWS = [f"int-{number:03}" for number in range(1, 25) if number not in (11, 23)]
TASKS = ["buggy_calc", "noisy_logs_repo", "prompt_injection_repo"]

CLAUSES = {
    "change_of_control": "On a change of control the other side may ask for consent.",
    "liability": "The liability is limited to the fees of one year.",
    "termination": "Each side may end it with a notice of thirty days.",
    "indemnity": "Subject A will indemnify Acme against all claims.",
    "renewal": "The renewal follows by itself for two years.",
    "exclusivity": "Acme buys from nobody else: exclusivity holds for three years.",
    "insurance_cover": "Subject A keeps an insurance of one million.",
    "price_adjustment": "The price rises with the index each year.",
}
KEYWORDS = {
    "change_of_control": ["consent", "change"],
    "liability": ["liability", "fees"],
    "termination": ["notice", "thirty"],
    "indemnity": ["indemnify", "claims"],
    "renewal": ["renewal", "years"],
    "exclusivity": ["exclusivity", "three"],
    "insurance_cover": ["insurance", "million"],
    "price_adjustment": ["price", "index"],
}

QUESTIONS = [
    "When does order {number} arrive?",
    "Where is the refund for order {number}?",
    "When does shop {number} open?",
    "What does article {number} cost?",
    "Please change the address of order {number}.",
]

AGENT_SOURCE = '''"""The agent {agent}: it answers one request a line."""

import os
import sys

sys.path.insert(0, os.environ["MONTH_TOOL"])

import agents
import texts


def main():
    agents.serve("{kind}", "{agent}", texts.shorten)


if __name__ == "__main__":
    main()
'''

TEXTS_SOURCE = '''"""What the agents do with texts."""


def shorten(text, limit=4000):
    """At most `limit` characters of a text."""
    return text[:limit]
'''


class Repository:
    """A git repository of a team, with the program that gates it."""

    def __init__(self, folder, variant, program):
        self.folder = Path(folder)
        self.variant = variant
        self.program = program
        self.suites = VARIANTS[variant]
        # How often the team has recorded: each session throws other dice.
        self.sessions = 0
        self.minutes = 0
        self.last_merged = None

    # Files and git.

    def path(self, name):
        return self.folder / name

    def read(self, name):
        return self.path(name).read_text()

    def write(self, name, text):
        self.path(name).parent.mkdir(parents=True, exist_ok=True)
        self.path(name).write_text(text)

    def replace(self, name, old, new):
        text = self.read(name)
        assert old in text, f"{name} has no {old!r}"
        self.write(name, text.replace(old, new))

    def git(self, *arguments, allow_failure=False):
        """Runs git at a fixed time, one minute after the last call, so that every month has the same commits."""
        self.minutes += 1
        date = f"{1_790_000_000 + 60 * self.minutes} +0000"
        environment = {**os.environ, "GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date, "GIT_EDITOR": "true"}
        result = subprocess.run(["git", *arguments], cwd=self.folder, env=environment, capture_output=True, text=True)
        if result.returncode and not allow_failure:
            raise RuntimeError(f"git {' '.join(arguments)} in {self.folder}: {result.stdout}{result.stderr}")
        return result

    def commit(self, title, author="Subject A"):
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", title, "--author", f"{author} <{author.split()[-1].lower()}@acme.example>")

    def goldgate(self, *arguments):
        """Runs the program as a developer does, outside of any build server."""
        hidden = ("GITHUB_", "INPUT_", "GOLDGATE_")
        environment = {name: value for name, value in os.environ.items() if not name.startswith(hidden) and name != "CI"}
        environment.update(MONTH_TOOL=str(TOOL), MONTH_SESSION=self.session(), NO_COLOR="1", PYTHONDONTWRITEBYTECODE="1")
        return subprocess.run([self.program.path, *arguments], cwd=self.folder, env=environment, capture_output=True, text=True)

    def session(self):
        return f"{self.variant} {self.program.seed} {self.sessions}"

    # Names that pull requests change. They are in a file of the repository, so that each branch has its own.

    def names(self):
        return json.loads(self.read("team.json"))

    def rename(self, key, name):
        names = self.names()
        names[key] = name
        self.write("team.json", json.dumps(names, indent=2) + "\n")

    def suite_name(self, suite):
        return self.names().get(f"suite {suite.name}", suite.name)

    def agent_name(self, suite):
        return self.names().get(f"agent {suite.agent}", suite.agent)

    def place(self, folder):
        """Where `golden`, `runs` or `prompts` lies on this branch."""
        return self.names().get(folder, folder)

    def golden(self, suite):
        return f"{self.place('golden')}/{suite.name}"

    def prompt(self, suite):
        return f"{self.place('prompts')}/{suite.agent}.md"

    def run_folder(self, suite):
        return f"{self.place('runs')}/{self.agent_name(suite)}"

    # The first commit.

    def create(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.git("init", "-q", "-b", "main", ".")
        self.git("config", "user.name", "Subject B")
        self.git("config", "user.email", "b@acme.example")
        self.write("team.json", "{}\n")
        self.write(".gitignore", ".goldgate/\n__pycache__/\n")
        self.write("README.md", "# Agents of Acme\n\nThey read what Acme gets.\n")
        self.write("docs/guide.md", "# Guide\n\nChange a prompt, record, push.\n")
        self.write("requirements.txt", "requests==2.32.0\npyyaml==6.0.1\n")
        self.write("web/app.js", "// The page of Acme.\n")
        self.write("src/requirements.lock", "json-tools==1.4.2\n")
        self.write("src/texts.py", TEXTS_SOURCE)
        self.write("src/settings.json", '{ "model": "model-a" }\n')
        for suite in self.suites:
            self.create_suite(suite)
        self.write("goldgate.yaml", self.config())
        self.record_until_green()
        self.commit("Begin")
        self.goldgate("run", "--update-baseline", "-q")
        self.commit("Write the baseline")
        self.last_merged = self.git("rev-parse", "HEAD").stdout.strip()

    def record_until_green(self):
        """A team begins with recordings that its own gates accept."""
        for _attempt in range(20):
            for suite in self.suites:
                record(self, suite)
            if self.goldgate("run", "-q").returncode == 0:
                return
        raise RuntimeError(f"{self.variant}: no recording was green in 20 attempts: {self.goldgate('run').stdout}")

    def create_suite(self, suite):
        rules = [f"Rule {number}: {rule}\n" for number, rule in enumerate(PROMPT_RULES, start=1)]
        self.write(self.prompt(suite), f"# The {suite.agent} of Acme\n\n" + "\n".join(rules))
        self.write(f"src/{suite.agent}.py", AGENT_SOURCE.format(agent=suite.agent, kind=suite.kind))
        names = {"evidence": TASKS, "interview": INTERVIEWS[: CASES_AT_START["interview"]]}.get(suite.kind)
        for name in names or [f"case-{number:02}" for number in range(1, CASES_AT_START[suite.kind] + 1)]:
            add_case(self, suite, name)
        if suite.kind == "chat":
            tools = [{"name": tool, "description": tool.replace("_", " "), "parameters": TOOL_PARAMETERS,
                      "results": [{"says": says}]} for tool, says in agents.SAYS.items()]
            self.write(f"{self.golden(suite)}/tools.json", json.dumps(tools, indent=2) + "\n")

    def config(self):
        lines = ["version: 1", "baseline: baselines/latest.json", f"samples: {SAMPLES}", "suites:"]
        for suite in self.suites:
            is_live = suite.recorder == "run"
            golden = self.golden(suite)
            lines += [
                f"  - id: {suite.name}",
                f"    kind: {GOLDGATE_KINDS.get(suite.kind, suite.kind)}",
                f"    path: {golden}/cases.json" if suite.kind == "chat" else f"    path: {golden}",
                "    tier: [deterministic, model]" if is_live else "    tier: [deterministic]",
            ]
            if suite.kind == "chat":
                lines.append(f"    tools: {golden}/tools.json")
            if suite.gates:
                lines.append(f"    gates: {suite.gates}")
            if suite.kind == "invoices":
                lines.append("    checks:")
                for field in ("number", "total", "currency"):
                    lines.append(f'      - {{ name: {field}, expr: "output.{field} == expected.{field}" }}')
            lines += ["    agents:", f"      {suite.agent}:", "        deterministic: { replay: runs }"]
            if is_live:
                lines.append(f"        model: {{ target: {suite.agent} }}")
            lines.append(f"        fingerprint: [prompts/{suite.agent}.md, 'src/**']")
        live = [suite for suite in self.suites if suite.recorder == "run"]
        if live:
            lines.append("targets:")
        for suite in live:
            variables = "MONTH_TOOL, MONTH_SESSION, PYTHONDONTWRITEBYTECODE"
            lines.append(f"  {suite.agent}: {{ command: [python3, src/{suite.agent}.py], protocol: jsonl, env: [{variables}] }}")
        return "\n".join(lines) + "\n"


PROMPT_RULES = [
    "read the whole text.",
    "name what you found.",
    "quote the words that show it.",
    "say where it is.",
    "leave out what is not asked.",
    "write in short sentences.",
    "be kind.",
    "use the tools that you have.",
    "never guess.",
    "stop when you are done.",
    "use common words.",
    "keep numbers as they are.",
    "keep names as they are.",
    "answer in English.",
    "explain nothing twice.",
    "do not apologise.",
    "name each amount.",
    "name each date.",
    "ask where it is unclear.",
    "do what the text cannot.",
]

TOOL_PARAMETERS = {"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"], "additionalProperties": False}


# Cases.


def case_names(repository, suite):
    """The cases of a suite, sorted."""
    golden = repository.path(repository.golden(suite))
    if suite.kind == "chat":
        return sorted(case["id"] for case in json.loads((golden / "cases.json").read_text()))
    folders = {"findings": f"expected/{repository.agent_name(suite)}", "interview": "scenarios", "evidence": "tasks", "invoices": "."}
    folder = golden / folders[suite.kind]
    return sorted(path.stem for path in folder.glob("*.json"))


def add_case(repository, suite, name):
    """A new case whose content follows from its name."""
    golden = repository.golden(suite)
    dice = random.Random(name)
    if suite.kind == "findings":
        categories = dice.sample(sorted(CLAUSES), 3)
        sections = [f"## {category}\n\n{CLAUSES[category]}\n" for category in categories]
        repository.write(f"{golden}/contracts/{name}.md", f"# Contract {name} of Acme and Subject A\n\n" + "\n".join(sections))
        expected = [{"category": category, "min_severity": "medium", "must_contain_keywords": KEYWORDS[category][:1],
                     "citation_must_reference": f"{name}.md"} for category in categories]
        write_json(repository, f"{golden}/expected/{repository.agent_name(suite)}/{name}.json", {"expected_findings": expected})
    elif suite.kind == "chat":
        number = 1000 + dice.randrange(9000)
        question = QUESTIONS[dice.randrange(len(QUESTIONS))].format(number=number)
        tool = agents.chat_tool(question)
        words = agents.SAYS[tool].format(number=number).rstrip(".").split()[-1]
        case = {"id": name, "category": "happy_path", "query": question, "expected_tools": [tool], "expected_output_contains": [words]}
        path = f"{golden}/cases.json"
        cases = json.loads(repository.read(path)) if repository.path(path).exists() else []
        write_chat_cases(repository, path, [*cases, case])
    elif suite.kind == "interview":
        shutil.copy(agents.FIXTURES / f"interview/scenarios/{name}.json", made(repository.path(f"{golden}/scenarios")))
    elif suite.kind == "evidence":
        task = json.loads((agents.FIXTURES / f"evidence/tasks/{name}.json").read_text())
        task["repo_path"] = f"repos/{name}"
        write_json(repository, f"{golden}/tasks/{name}.json", task)
        shutil.copytree(agents.FIXTURES / f"repos/{name}", repository.path(f"{golden}/repos/{name}"))
    else:
        total = dice.randrange(100, 99999) / 100
        text = f"Invoice A-{dice.randrange(1000, 9999)}\nTents and lamps for Acme\nTotal EUR {total:.2f}"
        expected = {"number": re.search(r"Invoice (\S+)", text).group(1), "total": total, "currency": "EUR"}
        write_json(repository, f"{golden}/{name}.json", {"input": text, "expected": expected})


def remove_case(repository, suite, name):
    """Removes a case, and leaves its recordings."""
    golden = repository.golden(suite)
    if suite.kind == "chat":
        path = f"{golden}/cases.json"
        write_chat_cases(repository, path, [case for case in json.loads(repository.read(path)) if case["id"] != name])
    elif suite.kind == "findings":
        repository.path(f"{golden}/contracts/{name}.md").unlink()
        repository.path(f"{golden}/expected/{repository.agent_name(suite)}/{name}.json").unlink()
    elif suite.kind == "interview":
        repository.path(f"{golden}/scenarios/{name}.json").unlink()
    else:
        repository.path(f"{golden}/{name}.json").unlink()


def remove_recordings(repository, suite, name):
    shutil.rmtree(repository.path(f"{repository.run_folder(suite)}/{name}"))


def correct_expectation(repository, suite, name):
    """Changes what a case expects to something else that the right answer has, too."""
    golden = repository.golden(suite)
    if suite.kind == "findings":
        path = f"{golden}/expected/{repository.agent_name(suite)}/{name}.json"
        case = json.loads(repository.read(path))
        expected = case["expected_findings"][0]
        expected["must_contain_keywords"] = KEYWORDS[expected["category"]][1:]
        write_json(repository, path, case)
    elif suite.kind == "chat":
        path = f"{golden}/cases.json"
        cases = json.loads(repository.read(path))
        case = next(case for case in cases if case["id"] == name)
        case["expected_output_contains"] = [re.search(r"\d+", case["query"]).group()]
        write_chat_cases(repository, path, cases)
    elif suite.kind == "interview":
        path = f"{golden}/scenarios/{name}.json"
        case = json.loads(repository.read(path))
        case["minimumRubricScore"] -= 1
        write_json(repository, path, case)
    else:
        path = f"{golden}/{name}.json"
        case = json.loads(repository.read(path))
        case["checks"] = [*case.get("checks", []), {"name": "is_positive", "expr": "output.total > 0.0"}]
        write_json(repository, path, case)


def question_of(repository, suite, name):
    """What the agent is asked in a case, as far as its answer depends on it."""
    golden = repository.golden(suite)
    if suite.kind == "findings":
        return repository.read(f"{golden}/contracts/{name}.md")
    if suite.kind == "chat":
        return next(case["query"] for case in json.loads(repository.read(f"{golden}/cases.json")) if case["id"] == name)
    if suite.kind == "invoices":
        return json.loads(repository.read(f"{golden}/{name}.json"))["input"]
    return ""


def write_chat_cases(repository, path, cases):
    """One case a line, as people write them."""
    lines = ",\n".join("  " + json.dumps(case) for case in sorted(cases, key=lambda case: case["id"]))
    repository.write(path, f"[\n{lines}\n]\n")


def write_json(repository, path, value):
    repository.write(path, json.dumps(value, indent=2) + "\n")


def made(folder):
    folder.mkdir(parents=True, exist_ok=True)
    return folder


# Recording. Each function returns how many commands the developer typed.


def record(repository, suite, only_new=False):
    """Records a suite as this team does. `only_new` leaves the recordings of the cases that have some."""
    repository.sessions += 1
    if suite.recorder == "run":
        return record_with_goldgate(repository, suite, only_new)
    cases = case_names(repository, suite)
    if only_new:
        cases = [name for name in cases if not repository.path(f"{repository.run_folder(suite)}/{name}").exists()]
    if suite.recorder in ("latency", "bare"):
        return record_by_hand(repository, suite, cases)
    return import_logs(repository, suite, cases)


def record_with_goldgate(repository, suite, only_new):
    command = ["run", "--tier", "model", "--samples", str(SAMPLES), "--suite", repository.suite_name(suite)]
    repository.goldgate(*command, "--record", repository.place("runs"), *(["--missing"] if only_new else []))
    return 1


def said(repository, suite, name, sample):
    """One answer of the suite's agent, for a recorder of the team's own."""
    texts = agents.agent_texts(repository.folder, repository.prompt(suite))
    question = question_of(repository, suite, name)
    return agents.answer(suite.kind, texts, name, question, repository.session(), sample)


def record_by_hand(repository, suite, cases):
    """A recorder of the team's own: it states no digests, so the developer stamps what it wrote."""
    for name in cases:
        for sample in range(SAMPLES):
            answer = said(repository, suite, name, sample)
            run = {"status": "completed", "outputs": answer.outputs}
            if answer.steps:
                run["intermediate"] = answer.steps
            if suite.recorder == "latency":
                run["metrics"] = agents.used(repository.session(), name, sample)
            write_json(repository, f"{repository.run_folder(suite)}/{name}/{sample}.json", run)
    return 1 + stamp(repository, suite)


def stamp(repository, suite, *options):
    """Writes today's digests into the recordings that state none. A program without such a command has no step here."""
    if repository.program.stamp is None:
        return 0
    repository.goldgate(repository.program.stamp, "--suite", repository.suite_name(suite), *options)
    return 1


def import_logs(repository, suite, cases):
    """The agent is asked, its logs lie outside of the repository, and goldgate imports them: two commands."""
    logs = Path(f"{repository.folder}-logs")
    shutil.rmtree(logs, ignore_errors=True)
    logs.mkdir()
    prompt = repository.read(repository.prompt(suite))
    for name in cases:
        query = question_of(repository, suite, name)
        lines = [json.dumps(log(repository, suite, name, sample, prompt, query)) for sample in range(SAMPLES)]
        (logs / f"{name}.jsonl").write_text("\n".join(lines) + "\n")
    repository.goldgate("import", str(logs), "--out", repository.place("runs"), "--agent", repository.agent_name(suite), "--force")
    return 2


def log(repository, suite, name, sample, prompt, query):
    """One conversation as OpenAI's clients log it."""
    answer = said(repository, suite, name, sample)
    messages = [{"role": "system", "content": prompt}, {"role": "user", "content": query}]
    for call in answer.steps["tool_calls"]:
        function = {"name": call["name"], "arguments": json.dumps(call["arguments"])}
        messages.append({"role": "assistant", "content": None, "tool_calls": [{"id": "call_1", "type": "function", "function": function}]})
        messages.append({"role": "tool", "tool_call_id": "call_1", "content": call["result"]})
    messages.append({"role": "assistant", "content": answer.outputs["text"]})
    record = {"case": name, "messages": messages}
    if suite.recorder == "dated":
        dice = random.Random(f"{repository.session()} {name} {sample} time")
        record["created"] = 1_790_000_000 + 60 * repository.minutes + dice.randrange(60)
        record["model"] = json.loads(repository.read("src/settings.json"))["model"]
        used = {"prompt_tokens": dice.randrange(300, 400), "completion_tokens": dice.randrange(20, 60)}
        record["usage"] = {**used, "total_tokens": sum(used.values())}
    return record
