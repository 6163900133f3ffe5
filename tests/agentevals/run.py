"""Runs the tests of agentevals, writes every call of its trajectory evaluators as a case of kind `tool_use` and a transcript, and compares
goldgate's verdict on the case with the evaluator's. Then it does the same with changed messages, and prints a table in Markdown.

usage: run.py BINARY TESTS [--invert N]; TESTS is the unpacked source of agentevals. With --invert, the verdict of call N, from 1, is taken
as the opposite, so that one verdict more differs. Fails if a verdict on a call of the tests differs, or one on changed messages without a
known reason."""

import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
MODES = {"strict": "exact", "unordered": "any_order", "subset": "subset", "superset": "superset"}
WORDS = {True: "pass", False: "fail"}
# Modes of arguments that agentevals exchanges, together with the two lists of calls, if the mode is subset.
EXCHANGED = {"subset": "superset", "superset": "subset"}
# Comparisons in Python in the tests.
CITY = "test_trajectory_match_with_langchain_messages_and_override.<locals>.<lambda>"
POLICY = "test_trajectory_match_with_overrides.<locals>.lookup_policy_query_matcher"


def by_fields(fields, how="ignore"):
    return {"match": how, "fields": fields}


def either_city(mode, reference, module):
    """Both cities are San Francisco. The asynchronous test lacks the parentheses: if the reference is "San Francisco", any call will do,
    except in the modes that compare in the other direction."""
    assert reference == {"city": "San Francisco"}
    if module == "test_trajectory_async.py" and mode in ("strict", "superset"):
        return None
    return by_fields({"city": {"one_of": ["SF", "San Francisco"]}})


def asks_for_upgrade(mode, reference, module):
    """If the reference asks for an upgrade, so does the call. In mode subset it is the other way round."""
    if mode == "subset" or "upgrade" not in reference["query"]:
        return None
    return by_fields({"query": {"regex": "upgrade"}})


def no_more_upgrades(mode, references):
    """What `asks_for_upgrade` means in the other direction. No condition of a field says that a text does not contain another."""
    if mode not in ("subset", "unordered"):
        return None
    most = sum("upgrade" in reference["query"] for reference in references)
    return f"size(calls.filter(c, c.name == 'lookup_policy' && c.arguments.query.contains('upgrade'))) <= {most}"


# The comparisons in Python, written by hand: conditions on the arguments of a call, and an expression about all calls.
BY_HAND = {CITY: (either_city, None), POLICY: (asks_for_upgrade, no_more_upgrades)}


def compared(how, mode, reference):
    """A comparison with the arguments of the reference; None if any will do."""
    if isinstance(how, list):
        return by_fields({path: condition_at(reference, path) for path in how})
    if how in EXCHANGED and mode == "subset":
        how = EXCHANGED[how]
    if how in EXCHANGED and mode == "unordered":
        how = "exact"  # It compares in both directions.
    if how == "ignore":
        return None
    if how in EXCHANGED and any(isinstance(value, dict) for value in reference.values()):
        # goldgate compares objects inside of objects by subset too. agentevals does not.
        fields = {key: {"equals": value, "optional": how == "subset"} for key, value in reference.items()}
        return by_fields(fields, "exact" if how == "subset" else "ignore")
    return {"match": how, "values": reference}


def condition_at(reference, path):
    """The condition that the value at a path is that of the reference, or absent if it is absent there."""
    for key in path.split("."):
        reference = reference.get(key) if isinstance(reference, dict) else None
    return {"equals": reference, "optional": reference is None}


def calls_of(messages):
    return [call for message in messages for call in message.get("tool_calls") or []]


def arguments_of(call):
    return json.loads(call["function"]["arguments"])


def entry(call, settings):
    name, reference = call["function"]["name"], arguments_of(call)
    how = settings["overrides"].get(name) or settings["args_mode"]
    if isinstance(how, dict):
        args = BY_HAND[how["function"]][0](settings["mode"], reference, settings["test"].partition("::")[0])
    else:
        args = compared(how, settings["mode"], reference)
    return {"name": name, **({"args": args} if args else {})}


def trajectory(messages, settings):
    entries = []
    for message in messages:
        made = [entry(call, settings) for call in message.get("tool_calls") or []]
        is_group = settings["mode"] == "strict" and len(made) > 1
        entries += [{"parallel": made}] if is_group else made
    return {"mode": MODES[settings["mode"]], "tools": entries}


def turns_of(messages):
    """The messages of each turn, that of the user first."""
    starts = [at for at, message in enumerate(messages) if message["role"] == "user"]
    return [messages[start:end] for start, end in zip(starts, [*starts[1:], len(messages)])]


def same_steps(messages):
    """Which neighbouring calls the model asked for in one message."""
    steps = [number for number, message in enumerate(messages) for _ in message.get("tool_calls") or []]
    pairs = enumerate(zip(steps, steps[1:]))
    told = [f"calls[{at}].step {'==' if one == next_one else '!='} calls[{at + 1}].step" for at, (one, next_one) in pairs]
    return " && ".join([f"size(calls) == {len(steps)}", *told])


def expression(settings):
    if settings["mode"] == "strict":
        return {"answer": {"expr": same_steps(settings["reference"])}}
    for tool, how in settings["overrides"].items():
        about_all = BY_HAND[how["function"]][1] if isinstance(how, dict) else None
        references = [arguments_of(call) for call in calls_of(settings["reference"]) if call["function"]["name"] == tool]
        if about_all and (expr := about_all(settings["mode"], references)):
            return {"answer": {"expr": expr}}
    return {}


def case(name, settings):
    """The reference as a case. `turns` also for one message: a case with `query` has to say which tools must be called."""
    reference = settings["reference"]
    turns = [{"user": messages[0]["content"]} for messages in turns_of(reference)]
    found = {"id": name, "category": "happy_path", "turns": turns}
    if settings["mode"] == "strict":
        for turn, messages in zip(turns, turns_of(reference)):
            turn["trajectory"] = trajectory(messages, settings)
    else:
        found["trajectory"] = trajectory(reference, settings)
    return {**found, **expression(settings)}


def transcript(name, messages):
    """The outputs for `goldgate import openai`. Calls and results get ids, which OpenAI requires and most tests leave out; results are in
    the order of the calls."""
    waiting, written = [], []
    for number, message in enumerate(map(dict, messages)):
        if message.get("tool_calls"):
            waiting = [f"{number}-{index}" for index in range(len(message["tool_calls"]))]
            message["tool_calls"] = [{**call, "type": "function", "id": one} for call, one in zip(message["tool_calls"], waiting)]
        if message["role"] == "tool":
            message["tool_call_id"] = waiting.pop(0)
        written.append(message)
    return {"agent": "assistant", "case": name, "messages": written}


def evaluated(tests, folder):
    """What watch.py saw: every call of an evaluator, and the tests that it left out. All other tests pass."""
    calls, left_out = folder / "calls.jsonl", folder / "left-out"
    files = {"AGENTEVALS_CALLS": str(calls), "AGENTEVALS_LEFT_OUT": str(left_out), "PYTHONPATH": str(HERE)}
    # By default, the tests report to LangSmith.
    quiet = {"LANGSMITH_TEST_TRACKING": "false", "LANGSMITH_TRACING": "false", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "watch", "-p", "no:cacheprovider", "tests"]
    ran = subprocess.run(command, cwd=tests, env={**os.environ, **files, **quiet}, capture_output=True, text=True)
    if ran.returncode != 0:
        sys.exit(ran.stdout + ran.stderr)
    return [json.loads(line) for line in calls.read_text().splitlines()], left_out.read_text().splitlines()


def graded(binary, folder, asked):
    """goldgate's verdict by name. `asked` has the settings and the outputs: they become a case and a recording."""

    def goldgate(*arguments, codes):
        ran = subprocess.run([binary, *arguments], cwd=folder, capture_output=True, text=True)
        if ran.returncode not in codes:
            sys.exit(f"goldgate {arguments[0]}: exit code {ran.returncode}\n{ran.stderr}")
        return ran.stdout

    (folder / "cases.json").write_text(json.dumps([case(name, settings) for name, (settings, _) in asked.items()]))
    lines = [json.dumps(transcript(name, outputs)) for name, (_, outputs) in asked.items()]
    (folder / "transcripts.jsonl").write_text("\n".join(lines))
    (folder / "goldgate.yaml").write_text(
        "version: 1\nsuites:\n  - id: agentevals\n    kind: tool_use\n    policy: seed\n    path: cases.json\n    agents:\n"
        "      assistant: { deterministic: { replay: runs }, fingerprint: { none: generated } }\n"
    )
    goldgate("import", "openai", "transcripts.jsonl", "--out", "runs", codes=[0])
    report = json.loads(goldgate("run", "--format", "json", codes=[0, 1]))
    verdicts = {one["case"]: one["verdict"] for one in report["suites"][0]["agents"][0]["cases"]}
    if verdicts.keys() != asked.keys() or not set(verdicts.values()) <= set(WORDS.values()):
        sys.exit(f"not every case has a verdict: {collections.Counter(verdicts.values())}")
    return {name: verdict == WORDS[True] for name, verdict in verdicts.items()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary", type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("tests", type=pathlib.Path)
    parser.add_argument("--invert", type=int, metavar="N")
    given = parser.parse_args()
    modules, ways = collections.defaultdict(list), collections.defaultdict(list)
    asked, expected, in_some_order, known = {}, {}, {}, set()
    with tempfile.TemporaryDirectory() as folder:
        calls, left_out = evaluated(given.tests, pathlib.Path(folder))
        for number, call in enumerate(calls, 1):
            name = f"call-{number}"
            modules[call["test"].partition("::")[0]].append(name)
            asked[name], expected[name] = (call, call["outputs"]), call["verdict"] != (number == given.invert)
            for index, changed in enumerate(call.pop("changed")):
                settings, outputs = {**call, "args_mode": changed["args_mode"]}, changed["outputs"]
                # Both files have almost the same tests.
                parts = [settings[key] for key in ("mode", "args_mode", "overrides", "reference")]
                same = json.dumps([parts, outputs, changed["verdict"]])
                if same not in known:
                    known.add(same)
                    name = f"changed-{number}-{index}"
                    ways[changed["way"]].append(name)
                    asked[name], expected[name] = (settings, outputs), changed["verdict"]
                    in_some_order[name] = changed["in_some_order"]
        found = graded(given.binary, pathlib.Path(folder), asked)
    differing = [name for name in asked if found[name] != expected[name]]
    of_tests, unknown = [], []
    for name in differing:
        settings, _ = asked[name]
        setting = f"mode {settings['mode']}, arguments {settings['args_mode']}"
        line = f"{settings['test']}, {setting}: {WORDS[expected[name]]} there, {WORDS[found[name]]} here"
        if name.startswith("call-"):
            of_tests.append(line)
        # The reason is in docs/coming-from/trajectories.md.
        elif expected[name] or not in_some_order[name]:
            way = next(way for way, names in ways.items() if name in names)
            unknown.append(f"{line}; change: {way}")
    for module, names in modules.items():
        tests = len({asked[name][0]["test"] for name in names})
        passing = sum(expected[name] for name in names)
        equal = sum(name not in differing for name in names)
        print(f"{module}: {tests} tests, {len(names)} calls, {passing} pass there, {equal} of {len(names)} verdicts equal")
    print(f"left out, because they ask a model: {len(left_out)} tests", *left_out, sep="\n  ")
    print("\n| messages | verdicts | pass there | equal | stricter | more lenient |\n|---|---|---|---|---|---|")
    for way, names in ways.items():
        others = [name for name in names if name in differing]
        stricter = sum(expected[name] for name in others)
        passing = sum(expected[name] for name in names)
        print(f"| {way} | {len(names)} | {passing} | {len(names) - len(others)} | {stricter} | {len(others) - stricter} |")
    if of_tests or unknown:
        sys.exit("\nverdicts that differ:\n" + "\n".join(of_tests + unknown))


main()
