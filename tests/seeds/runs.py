"""Makes the runs that the data of other evaluation systems lacks, in the form in which each system writes them."""

import json
import sys
from itertools import cycle
from pathlib import Path

root = Path(sys.argv[1])


def read(path):
    return json.loads((root / path).read_text())


def write(path, value):
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(value))


def findings():
    documents = (one for agent in read("000/vectors/findings-wild.json") for one in agent["docs"])
    outputs = cycle([one["findings"] for document in documents for one in document["samples"] if one["ok"]])
    made = 0
    for expected in sorted((root / "000/ground_truth/expected").glob("*/*.json")):
        for sample in (1, 2, 3):
            run = {"findings": next(outputs), "gaps": []}
            write(f"000/out/run-{sample}/findings/{expected.parent.name}/{expected.name}", run)
            made += 1
    print(f"000: made {made} runs from the outputs of the vectors")


def artifact(agent, output):
    return {
        "runId": "made",
        "agent": agent,
        "config": {"model": "made", "temperature": 0},
        "output": output,
        "nodeTransitions": [],
        "metrics": {"totalDurationMs": 1, "totalTokens": 1, "totalLlmCalls": 1},
    }


def case_id(file):
    return json.loads(file.read_text()).get("id", file.stem)


def interviews():
    made = 0
    for kind, agent, several in [
        ("interview", "interview", False),
        ("stochastic", "interview", True),
        ("reconciliation", "reconciliation", False),
    ]:
        outputs = cycle([one["output"] for one in read(f"001/vectors/{kind}.json")])
        for file in sorted((root / "001" / kind).glob("*.json")):
            output = next(outputs)
            samples = output if several else [output]
            for sample, one in enumerate(samples):
                write(f"001/out/{kind}/{agent}/{case_id(file)}/{sample}.json", artifact(agent, one))
                made += 1
    for kind in ["micro-inference", "quality-scoring"]:
        answers = cycle([one["answer"] for one in read(f"001/vectors/{kind}.json")])
        for file in sorted((root / "001" / kind).glob("*.json")):
            write(f"001/out/{kind}/agent/{case_id(file)}.json", {"status": "success", "output": next(answers)})
            made += 1
    print(f"001: made {made} runs from the outputs of the vectors")


if (root / "000").is_dir():
    findings()
if (root / "001").is_dir():
    interviews()
