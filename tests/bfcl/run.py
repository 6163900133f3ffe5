"""Writes the cases of five categories of BFCL v4 as cases of kind `tool_use`, answers each rightly and in several wrong ways, and compares
the verdicts with those of BFCL's own checker.

usage: run.py BINARY PACKAGE; PACKAGE is the folder `bfcl_eval` of the Python package bfcl-eval. Prints a table in Markdown. Fails if a
verdict differs without a known reason."""

import collections
import copy
import json
import pathlib
import subprocess
import sys
import tempfile
import types

# Ways to answer whose verdicts differ by design; docs/coming-from/trajectories.md says why.
BY_DESIGN = {"a float for an integer", "without whitespace"}
# Entries whose list of right answers contradicts the declaration of the tool.
CONTRADICTIONS = {"parallel_multiple_12", "parallel_multiple_26", "simple_python_17", "simple_python_200"}
# Entries where two right answers overlap, and BFCL gives a call to the first one that it fits.
OVERLAPS = {"parallel_178"}
CATEGORIES = ["simple_python", "multiple", "parallel", "parallel_multiple", "irrelevance"]
TYPES = {"array": "array", "tuple": "array", "dict": "object", "float": "number", "integer": "number", "boolean": "boolean"}


def checker(package):
    """BFCL's checker, without the clients of models that its settings import."""
    sys.path.insert(0, str(package.parent))
    stub = types.ModuleType("bfcl_eval.constants.model_config")
    stub.MODEL_CONFIG_MAPPING = {"any": types.SimpleNamespace(underscore_to_dot=False)}
    sys.modules["bfcl_eval.constants.model_config"] = stub
    for name in ("java", "js"):
        converter = types.ModuleType(f"bfcl_eval.eval_checker.ast_eval.type_convertor.{name}_type_converter")
        setattr(converter, f"{name}_type_converter", None)
        sys.modules[converter.__name__] = converter
    from bfcl_eval.constants.enums import Language
    from bfcl_eval.eval_checker.ast_eval.ast_checker import ast_checker

    def judge(functions, made, answers, category):
        if category == "irrelevance":
            return not made
        return ast_checker(functions, made, answers, Language.PYTHON, category, "any")["valid"]

    return judge


def condition(values):
    """The condition of one argument: one of the values, "" among them if it may be absent."""
    stated = [value for value in values if value != ""]
    if any(isinstance(value, dict) for value in stated):
        choices = [{"fields": {key: condition(inner) for key, inner in value.items()}} for value in stated]
        found = choices[0] if len(choices) == 1 else {"any_of": choices}
    elif any(isinstance(value, list) and any(isinstance(item, dict) for item in value) for value in stated):
        choices = [
            {"items": [{"fields": {key: condition(inner) for key, inner in item.items()}} for item in value]}
            for value in stated
        ]
        found = choices[0] if len(choices) == 1 else {"any_of": choices}
    else:
        found = {"one_of": values, "ignore_case": True}
    return {**found, "optional": True} if "" in values else found


def step(answer):
    ((name, arguments),) = answer.items()
    return {"name": name, "args": {"fields": {key: condition(values) for key, values in arguments.items()}}}


def value(values):
    """A right value of an argument, and None if it may only be absent."""
    stated = [value for value in values if value != ""]
    if not stated:
        return None
    if isinstance(stated[0], dict):
        return {key: one for key, inner in stated[0].items() if (one := value(inner)) is not None}
    if isinstance(stated[0], list) and any(isinstance(item, dict) for item in stated[0]):
        return [{key: one for key, inner in item.items() if (one := value(inner)) is not None} for item in stated[0]]
    return stated[0]


def right(answers):
    return [
        {name: {key: one for key, values in arguments.items() if (one := value(values)) is not None}}
        for answer in answers
        for name, arguments in answer.items()
    ]


def changed(one):
    """Another value of the same type."""
    if isinstance(one, bool):
        return not one
    if isinstance(one, (int, float)):
        return one + 1
    if isinstance(one, str):
        return one + " and more"
    if isinstance(one, list):
        return one + one[:1] if one else [1]
    return {**one, "unknown": 1}


def answers_of(entry, truth):
    """Ways to answer by name: the right one, and wrong or unusual ones."""
    functions = entry["function"]
    if not truth:
        name = functions[0]["name"]
        return {"right": [], "a call": [{name: {}}]}
    calls = right(truth)
    (name, arguments), (possible,) = next(iter(calls[0].items())), truth[0].values()
    ways = {"right": calls, "no call": [], "a call twice": calls + calls[:1], "another tool": [{"other": arguments}] + calls[1:]}
    ways["an unknown argument"] = [{name: {**arguments, "unknown": 1}}] + calls[1:]
    if len(calls) > 1:
        ways["another order"] = calls[::-1]
    for key, one in arguments.items():
        rest = {other: kept for other, kept in arguments.items() if other != key}
        optional = "" in possible[key] and key not in next(
            function["parameters"]["required"] for function in functions if function["name"] == name
        )
        ways["an optional argument left out" if optional else "a required argument left out"] = [{name: rest}] + calls[1:]
        ways["another value"] = [{name: {**arguments, key: changed(one)}}] + calls[1:]
        if isinstance(one, str) and one.upper() != one:
            ways["another letter case"] = [{name: {**arguments, key: one.upper()}}] + calls[1:]
        if isinstance(one, str) and " " in one:
            ways["without whitespace"] = [{name: {**arguments, key: one.replace(" ", "")}}] + calls[1:]
        if isinstance(one, int) and not isinstance(one, bool):
            ways["a float for an integer"] = [{name: {**arguments, key: float(one)}}] + calls[1:]
            ways["a text for a number"] = [{name: {**arguments, key: str(one)}}] + calls[1:]
    return ways


def entries(package):
    for category in CATEGORIES:
        read = lambda path: [json.loads(line) for line in path.read_text().splitlines()]
        questions = read(package / f"data/BFCL_v4_{category}.json")
        file = package / f"data/possible_answer/BFCL_v4_{category}.json"
        truths = {one["id"]: one["ground_truth"] for one in read(file)} if file.exists() else {}
        for question in questions:
            yield category, question, truths.get(question["id"], [])


def main():
    binary, package = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    judge = checker(package)
    cases, expected, refused = [], {}, []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        runs = folder / "runs/assistant"
        runs.mkdir(parents=True)
        whole = 0
        for category, entry, truth in entries(package):
            whole += 1
            names = sorted({name for answer in truth for name in answer})
            for number, (way, made) in enumerate(answers_of(entry, truth).items()):
                case = f"{entry['id'].replace('.', '-')}-{number}"
                cases.append(
                    {
                        "id": case,
                        "category": "happy_path",
                        "query": entry["question"][0][-1]["content"] or "-",
                        "expected_tools": names,
                        "expected_output_contains": [],
                        "trajectory": {"mode": "any_order" if category.startswith("parallel") else "exact", "tools": [step(one) for one in truth]},
                    }
                )
                calls = [{"name": name, "arguments": arguments} for one in made for name, arguments in one.items()]
                record = {"status": "completed", "outputs": {"text": "done"}, "intermediate": {"tool_calls": calls}}
                (runs / f"{case}.json").write_text(json.dumps(record))
                expected[case] = (category, way, judge(entry["function"], copy.deepcopy(made), truth, category))
        (folder / "cases.json").write_text(json.dumps(cases))
        (folder / "goldgate.yaml").write_text(
            "version: 1\nsuites:\n  - id: bfcl\n    kind: tool_use\n    policy: seed\n    path: cases.json\n    agents:\n"
            "      assistant: { deterministic: { replay: runs }, fingerprint: { none: generated } }\n"
        )
        ran = subprocess.run([binary, "run", "--format", "json"], cwd=folder, capture_output=True, text=True)
        if ran.returncode not in (0, 1):
            sys.exit(ran.stderr)
        report = json.loads(ran.stdout)
    found = {}
    for pair in report["suites"][0]["agents"][0]["cases"]:
        found[pair["case"]] = all(check["passed"] for check in pair["checks"] if check["name"] == "trajectory")
    rows = collections.defaultdict(lambda: [0, 0, []])
    for case, (category, way, verdict) in expected.items():
        row = rows[way]
        row[0] += 1
        row[1] += found[case] == verdict
        if found[case] != verdict:
            row[2].append((case, verdict))
    print(f"{whole} of {whole} cases written, {len(expected)} verdicts\n")
    print("| answer | verdicts | equal | stricter | more lenient |\n|---|---|---|---|---|")
    for way, (count, equal, others) in rows.items():
        stricter = sum(verdict for _, verdict in others)
        print(f"| {way} | {count} | {equal} | {stricter} | {len(others) - stricter} |")
    known = CONTRADICTIONS | OVERLAPS
    unknown = [
        f"{way}: {case} {'passes' if verdict else 'fails'} there"
        for way, (_, _, others) in rows.items()
        for case, verdict in others
        if way not in BY_DESIGN and case.rsplit("-", 1)[0] not in known
    ]
    if unknown:
        sys.exit("verdicts that differ without a known reason:\n" + "\n".join(unknown))


main()
