"""Counts the instructions of whole commands on repositories of three sizes: one of each kind of suite, and one that is large in
each format of file."""

import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
# The sizes, as multiples of the smallest.
TIMES = (1, 3, 9)
# What the step from the middle to the large size costs, as multiples of the step from the small to the middle one. Linear is 3;
# a logarithm adds a little; quadratic is 9.
MOST = 4.2


def instructions(folder, arguments):
    """The instructions of the program. One thread, because those that wait for work count as well."""
    command = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null", BINARY, *arguments]
    ran = subprocess.run(
        command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, env={**os.environ, "RAYON_NUM_THREADS": "1"}
    )
    said = ran.stderr.decode(errors="replace")
    found = re.search(r"I +refs: +([0-9,]+)", said)
    if ran.returncode not in (0, 1, 2) or not found:
        sys.exit(f"{' '.join(command)} ended with {ran.returncode}:\n{ran.stdout.decode()[-2000:]}\n{said[-4000:]}")
    return int(found.group(1).replace(",", ""))


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def config(folder, suites, rest=""):
    write(folder / "goldgate.yaml", f"version: 1\nsuites:\n{suites}{rest}")


def copies(folder, source, golden, runs, count):
    """`count` cases of a bundled suite under new names, with their recordings. `golden` is the folder of its cases."""
    source = ROOT / "fixtures" / source
    shutil.copytree(source, folder / "suite", ignore=shutil.ignore_patterns(golden.split("/")[0], "runs", "snapshots"))
    cases = sorted((source / golden).iterdir())
    for number in range(count):
        case = cases[number % len(cases)]
        name, new = case.stem, f"{case.stem}-{number:05}"
        for file in [case] if case.is_file() else sorted(case.iterdir()):
            to = file.relative_to(source).as_posix().replace(name, new)
            write(folder / "suite" / to, file.read_text().replace(f': "{name}"', f': "{new}"'))
        # A kind may add variants of a case, named after it.
        recordings = [*source.glob(f"runs/*/{name}*.json"), *source.glob(f"runs/*/{name}*/*.json")]
        for recording in sorted(recordings) if runs else []:
            to = recording.relative_to(source).as_posix().replace(name, new)
            write(folder / "suite" / to, recording.read_text().replace(f'"case": "{name}', f'"case": "{new}'))



def agent(name, more=""):
    return f"    agents: {{ {name}: {{ {more}deterministic: {{ replay: suite/runs }}, fingerprint: {{ none: generated }} }} }}\n"


def kind(name, source, golden, agents, more="", runs=True):
    """A builder of a suite with many cases."""

    def build(folder, count):
        copies(folder, source, golden, runs, count)
        config(folder, f"  - id: many\n    kind: {name}\n    path: suite\n{more}{agents}")
        return ["run", "--quiet"]

    return build


def without_digests(file):
    """A recording that states nothing of what it was made with, because that is edited here."""
    run = json.loads(file.read_text())
    run.pop("provenance", None)
    return run


def longer(build, cases):
    """A builder of the same suite with few cases, and with lists in their recordings that are many times as long."""

    def longer_lists(folder, count):
        arguments = build(folder, cases)
        for file in folder.glob("**/runs/**/*.json"):
            run = without_digests(file)
            for part in ("outputs", "intermediate"):
                values = run.get(part) or {}
                run[part] = {key: value * count if isinstance(value, list) else value for key, value in values.items()}
            file.write_text(json.dumps(run))
        return arguments

    return longer_lists


def evidence(folder, count):
    """Some cases list the files of their repository, and some have the repository."""
    shutil.copytree(ROOT / "fixtures/repos", folder / "fixtures/repos")
    return kind("evidence", "evidence", "tasks", agent("inspector"))(folder, count)


def findings(folder, count):
    generate(folder, count)
    return ["run", "--quiet"]


def generate(folder, count):
    subprocess.run([sys.executable, ROOT / "benches/cases.py", str(count), folder], check=True)


def cross_agent(folder, count):
    """Two agents on the same documents, and what they should share."""
    subprocess.run([sys.executable, ROOT / "benches/cases.py", str(2 * count), folder, "2"], check=True)
    for number in range(count):
        case = {
            "contract": f"case-{number:05}",
            "agents": ["agent-0", "agent-1"],
            "no_duplicates": True,
            "shared_findings": [{"category": "liability", "must_contain_keywords": ["consent"]}],
        }
        write(folder / f"together/cases/shared-{number:05}.json", json.dumps(case))
    with open(folder / "goldgate.yaml", "a") as out:
        out.write("  - { id: together, kind: cross_agent, policy: seed, path: together, runs_of: contracts }\n")
    return ["run", "--quiet", "--suite", "together"]


def one_document(folder, count):
    """One case with 200 expected findings, and a recording with many, all of one category. The number of expected ones is limited."""
    generate(folder, 1)
    golden, recorded = (folder / f"golden/{part}/agent-0/case-00000.json" for part in ("expected", "runs"))
    expected, run = json.loads(golden.read_text()), json.loads(recorded.read_text())
    one, other = expected["expected_findings"][0], run["outputs"]["findings"][0]
    del one["keyword_synonyms"]
    many = [{**one, "must_contain_keywords": [f"clause {number:05}"]} for number in range(200)]
    golden.write_text(json.dumps({**expected, "expected_findings": many, "max_expected_findings": 9}))
    run["outputs"]["findings"] = [{**other, "description": f"It is clause {number % 200:05}."} for number in range(count)]
    recorded.write_text(json.dumps(run))
    return ["run", "--quiet"]


def long_document(folder, count):
    """One long document, and a quote from its end."""
    generate(folder, 1)
    document = folder / "golden/contracts/case-00000.md"
    text = document.read_text()
    document.write_text("".join(f"Clause {number}. The Client pays the fee within thirty days. " for number in range(40 * count)) + text)
    return ["run", "--quiet"]


def long_recording(folder, count):
    """One recording with a long text beside its findings."""
    generate(folder, 1)
    recorded = folder / "golden/runs/agent-0/case-00000.json"
    run = json.loads(recorded.read_text())
    run["outputs"]["text"] = 'a \\"quoted\\" line\n' * (200 * count)
    recorded.write_text(json.dumps(run))
    return ["run", "--quiet"]


def baseline(folder, count):
    generate(folder, count)
    with open(folder / "goldgate.yaml", "a") as out:
        out.write("baseline: baseline.json\n")
    subprocess.run([BINARY, "run", "--quiet", "--update-baseline"], cwd=folder, check=True, capture_output=True)
    return ["run", "--quiet"]


def report(folder, count):
    generate(folder, count)
    subprocess.run([BINARY, "run", "--quiet", "--out", "out"], cwd=folder, check=True, capture_output=True)
    return ["report", "out", "--format", "html"]


def shards(folder, count):
    generate(folder, count)
    for part in (1, 2):
        command = [BINARY, "run", "--quiet", "--shard", f"{part}/2", "--out", f"part-{part}"]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return ["merge", "part-1", "part-2"]


def many_suites(folder, count):
    """Suites with one case each."""
    for number in range(count):
        golden = {"expected_findings": [{"category": "rent"}]}
        run = {"status": "completed", "outputs": {"findings": [{"category": "rent", "severity": "low", "title": "The rent"}]}}
        write(folder / f"s{number}/contracts/c.md", "The rent is due.")
        write(folder / f"s{number}/expected/a/c.json", json.dumps(golden))
        write(folder / f"s{number}/runs/a/c.json", json.dumps(run))
    suite = "  - id: s{0}\n    kind: findings\n    policy: seed\n    path: s{0}\n    agents: {{ a: {{ deterministic: {{ replay: s{0}/runs }}, fingerprint: {{ none: generated }} }} }}\n"
    config(folder, "".join(suite.format(number) for number in range(count)))
    return ["run", "--quiet"]


def suites_of_one_name(folder, count):
    config(folder, "  - { id: same, kind: findings, policy: seed, path: golden, agents: {} }\n" * count)
    return ["check"]


def unknown_metrics(folder, count):
    generate(folder, 1)
    with open(folder / "goldgate.yaml", "a") as out:
        out.writelines(["    gates:\n", *(f"      metric_{number}: {{ min: 1 }}\n" for number in range(count))])
    return ["check"]


def rules(folder, count):
    copies(folder, "triggers", "cases", False, 4)
    one = "  - {{ id: rule-{0}, when: {{ agent: legal, category: c{0} }}, trigger: {{ agent: finance, reason: \"r\" }} }}\n"
    write(folder / "suite/rules.yaml", (ROOT / "fixtures/triggers/rules.yaml").read_text() + "".join(map(one.format, range(count))))
    config(folder, "  - { id: many, kind: triggers, policy: seed, path: suite }\n")
    return ["run", "--quiet"]


def broken_goldens(folder, count):
    """A problem in every golden file of one file of cases."""
    cases = [{"id": f"case-{number}", "query": "q", "expected_tols": []} for number in range(count)]
    write(folder / "cases.json", json.dumps({"cases": cases}, indent=1))
    config(folder, f"  - id: many\n    kind: tool_use\n    policy: seed\n    path: cases.json\n{agent('a')}")
    return ["check"]


def failing_cases(folder, count):
    """Cases that all fail, as a comment: what is broken is told by case."""
    for number in range(count):
        write(folder / f"suite/runs/a/case-{number}.json", '{"status": "completed", "outputs": {"text": "no"}}')
    cases = [{"id": f"case-{number}", "query": f"q {number}", "answer": [{"all_of": ["yes"]}]} for number in range(count)]
    write(folder / "cases.json", json.dumps({"cases": cases}))
    config(folder, f"  - id: many\n    kind: tool_use\n    path: cases.json\n{agent('a')}")
    return ["run", "--format", "markdown"]


def cases_of_triggers(file, case):
    """All cases of rules in one file; `case` writes one of them."""

    def build(folder, count):
        write(folder / "suite/rules.yaml", (ROOT / "fixtures/triggers/rules.yaml").read_text())
        write(folder / "suite" / file, "".join(case(number) for number in range(count)))
        config(folder, f"  - {{ id: many, kind: triggers, policy: seed, path: suite/{file} }}\n")
        return ["run", "--quiet"]

    return build


def yaml_case(number, key="title"):
    return f"""# Case {number}.
- id: case-{number:05}
  agent: legal
  findings:
    - {{ category: rent, severity: low }} # ä
    - category: ä{number}
      {key}: >-
        The rent
        is due.
  expected_triggers: []
"""


def json_line(number):
    finding = {"category": f"c{number}", "severity": "low", "title": "The rent"}
    case = {"id": f"case-{number:05}", "agent": "legal", "findings": [finding], "expected_triggers": []}
    return json.dumps(case) + "\n"


def transcript(form, line):
    def build(folder, count):
        write(folder / "transcript.jsonl", "".join(json.dumps(line(number)) + "\n" for number in range(count)))
        return ["import", form, "transcript.jsonl", "--out", "runs", *([] if form == "otlp" else ["--agent", "a", "--case", "c"])]

    return build


def messages(number):
    return {"messages": [{"role": "user", "content": f"Question {number}"}, {"role": "assistant", "content": "An answer."}]}


def trace(number):
    texts = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "a", "goldgate.case": f"c{number}"}
    attributes = [{"key": key, "value": {"stringValue": value}} for key, value in texts.items()]
    content = [{"role": "assistant", "parts": [{"type": "text", "content": "An answer."}]}]
    attributes.append({"key": "gen_ai.output.messages", "value": {"stringValue": json.dumps(content)}})
    span = {"traceId": f"{number + 1:032x}", "spanId": f"{number + 1:016x}", "name": "invoke_agent a", "attributes": attributes}
    times = {"startTimeUnixNano": "1", "endTimeUnixNano": "2"}
    return {"resourceSpans": [{"scopeSpans": [{"spans": [{**span, **times}]}]}]}


def records(folder, count):
    """A file with a record for each of many cases, with a call each."""
    lines = []
    for number in range(count):
        call = {"id": f"call-{number}", "type": "function", "function": {"name": f"look_up_{number}", "arguments": "{}"}}
        user, answer = messages(number)["messages"]
        lines.append({"id": f"case-{number}", "messages": [user, {"role": "assistant", "tool_calls": [call]}, answer]})
    write(folder / "transcript.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    return ["import", "openai", "transcript.jsonl", "--out", "runs", "--agent", "a", "--case-key", "id"]


def stream(folder, count):
    """The events of one streamed answer with many calls, in two parts each."""
    calls = []
    for number in range(count):
        start = {"id": f"call-{number}", "type": "function", "function": {"name": "look_up", "arguments": '{"a":'}}
        calls.extend({"index": number, **part} for part in (start, {"function": {"name": "look_up", "arguments": "1}"}}))
    events = [{"choices": [{"index": 0, "delta": {"role": "assistant", "tool_calls": [call]}}]} for call in calls]
    events.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
    write(folder / "transcript.txt", "".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n")
    return ["import", "openai", "transcript.txt", "--out", "runs", "--agent", "a", "--case", "c"]


def logged(folder, count):
    """A log of Inspect, whose events have the calls of the messages once more, in another order."""
    calls = [{"id": f"call-{number}", "function": "look_up", "arguments": {"a": number}} for number in range(count)]
    talk = [{"role": "user", "content": "Question"}, {"role": "assistant", "content": "", "tool_calls": calls}]
    events = [{"event": "tool", "type": "function", **call} for call in reversed(calls)]
    sample = {"id": "c", "epoch": 1, "input": "Question", "target": "", "messages": talk, "events": events}
    log = {"version": 2, "status": "success", "eval": {"task": "t", "model": "m"}, "samples": [sample]}
    write(folder / "log.json", json.dumps(log))
    return ["import", "inspect", "log.json", "--out", "runs", "--agent", "a"]


def revised(folder, count):
    """Long documents in RTF, revised in one place."""
    copies(folder, "revision", "cases", True, 1)
    for file in folder.glob("suite/cases/*/*.rtf"):
        text = file.read_text()
        end = text.rindex("}")
        more = "".join(f"\\par Clause {number}. The tenant pays the rent of the month {number}.\n" for number in range(10 * count))
        file.write_text(text[:end] + more + text[end:])
    for file in folder.glob("**/runs/**/*.json"):
        file.write_text(json.dumps(without_digests(file)))
    config(folder, REVISION)
    return ["run", "--quiet"]


def tool_use(folder, count):
    """All cases in one file."""
    source = ROOT / "fixtures/tool_use"
    shutil.copytree(source, folder / "suite", ignore=shutil.ignore_patterns("runs", "eval_cases.json"))
    cases = json.loads((source / "eval_cases.json").read_text())["cases"]
    cases, many = [case for case in cases if "id" in case], []
    for number in range(count):
        case = cases[number % len(cases)]
        new = f"{case['id']}-{number:05}"
        many.append({**case, "id": new})
        for recording in sorted((source / "runs/assistant" / case["id"]).glob("*.json")):
            write(folder / f"suite/runs/assistant/{new}/{recording.name}", recording.read_text().replace(case["id"], new))
    write(folder / "suite/eval_cases.json", json.dumps({"cases": many}, indent=1))
    more = """    terms: { disclaimer: suite/terms/disclaimer.txt }
    flags:
      offers_next_step: { when: true, terms: suite/terms/next_step.txt }
      translates_to_french: { when: true, terms: suite/terms/french.txt }
    tools: suite/tools.json
"""
    config(folder, f"  - id: many\n    kind: tool_use\n    policy: seed\n    path: suite/eval_cases.json\n{more}{agent('assistant')}")
    return ["run", "--quiet"]


REVISION = "  - id: many\n    kind: revision\n    policy: seed\n    path: suite\n" + agent("loop")
TERMS = "    terms: { vague: suite/terms/vague.txt, edge_case: suite/terms/edge_case.txt }\n"
KINDS = {
    "findings": (findings, 20),
    "cross_agent": (cross_agent, 20),
    "triggers": (kind("triggers", "triggers", "cases", "", runs=False), 24),
    "tool_use": (tool_use, 40),
    "interview": (kind("interview", "interview", "scenarios", agent("interviewer"), TERMS), 10),
    "stochastic": (kind("stochastic", "stochastic", "scenarios", agent("interviewer")), 10),
    "reconciliation": (kind("reconciliation", "reconciliation", "fixtures", agent("reconciler")), 15),
    "property": (kind("property", "property", "cases", agent("reconciler")), 10),
    "evidence": (evidence, 12),
    "revision": (kind("revision", "revision", "cases", agent("loop")), 1),
}
FILES = {
    "failing cases": (failing_cases, 400),
    "findings of one document": (one_document, 200),
    "a long document": (long_document, 20),
    "a long recording": (long_recording, 20),
    "a baseline": (baseline, 20),
    "a stored report": (report, 20),
    "parts of a run": (shards, 20),
    "suites": (many_suites, 20),
    "suites of one name": (suites_of_one_name, 50),
    "gates of no metric": (unknown_metrics, 50),
    "rules of triggers": (rules, 50),
    "golden cases with a problem": (broken_goldens, 100),
    "cases in YAML": (cases_of_triggers("cases.yaml", yaml_case), 100),
    "cases in YAML with a problem": (cases_of_triggers("cases.yaml", lambda number: yaml_case(number, "titel")), 100),
    "cases in JSON Lines": (cases_of_triggers("cases.jsonl", json_line), 100),
    "messages of OpenAI": (transcript("openai", messages), 50),
    "messages of Anthropic": (transcript("anthropic", messages), 50),
    "traces": (transcript("otlp", trace), 50),
    "records of a file": (records, 50),
    "calls of a stream": (stream, 100),
    "calls that are logged twice": (logged, 100),
    "documents in RTF": (revised, 20),
}
# By name: what builds the repository of a size and gives the command, and the smallest size.
SHAPES = {
    **{f"cases of {name}": shape for name, shape in KINDS.items()},
    **{f"long lists of {name}": (longer(build, 1), 20) for name, (build, _) in KINDS.items() if name != "triggers"},
    **FILES,
}
BINARY = str(pathlib.Path(sys.argv[1]).resolve())


def counts(name):
    """The instructions of a shape in each size."""
    build, least = SHAPES[name]
    found = []
    for times in TIMES:
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / ".git").mkdir()
            arguments = build(folder, least * times)
            found.append(instructions(folder, arguments))
    return found


def main():
    wanted = sys.argv[2:] or list(SHAPES)
    slow = []
    # Counts do not depend on what else the machine does.
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as threads:
        for name, (small, middle, large) in zip(wanted, threads.map(counts, wanted)):
            _, least = SHAPES[name]
            # What a command costs in any size is in all three counts, and in no difference.
            ratio = (large - middle) / max(middle - small, 1)
            if ratio > MOST or middle - small < least:
                slow.append(name)
            print(f"{name:28} {(large - middle) / (least * 6):12.0f} instructions each, {ratio:5.2f} times as many for 3 times as much")
    if slow:
        sys.exit(f"not linear, or not read: {', '.join(slow)}")
    print(f"the commands are linear: {len(wanted)} shapes")


if __name__ == "__main__":
    main()
