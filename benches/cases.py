"""Writes a repository with COUNT recorded cases of a findings suite, of one agent or of AGENTS that share the documents.

usage: cases.py COUNT FOLDER [AGENTS]"""

import json
import os
import sys

count, folder = int(sys.argv[1]), sys.argv[2]
agents = [f"agent-{number}" for number in range(int(sys.argv[3]) if len(sys.argv) > 3 else 1)]
for name in [".git", "golden/contracts"] + [f"golden/{part}/{agent}" for part in ("expected", "runs") for agent in agents]:
    os.makedirs(f"{folder}/{name}", exist_ok=True)
with open(f"{folder}/goldgate.yaml", "w") as out:
    out.write(
        "version: 1\nsuites:\n  - id: contracts\n    kind: findings\n    policy: seed\n    path: golden\n"
        "    agents:\n"
    )
    for agent in agents:
        out.write(f"      {agent}: {{ deterministic: {{ replay: golden/runs }}, fingerprint: {{ none: generated }} }}\n")
CLAUSE = (
    "The Client may not assign this Agreement without the prior written consent of the Provider, "
    "and a change of control counts as an assignment. "
)
CATEGORIES = ["change_of_control", "termination", "liability", "assignment"]
for number in range(count // len(agents)):
    case = f"case-{number:05}"
    expected = {
        "expected_findings": [
            {
                "category": "change_of_control",
                "min_severity": "medium",
                "must_contain_keywords": ["change of control", "consent"],
                "keyword_synonyms": {"consent": ["approval"]},
                "citation_must_reference": f"{case}.md",
            },
            {
                "category": "termination",
                "must_contain_keywords": ["notice"],
                "citation_must_reference": f"{case}.md",
                "required": False,
            },
        ],
        "must_not_find": [{"category": "sla_risk", "reason": "there is no service level"}],
        "max_expected_findings": 8,
    }
    findings = [
        {
            "category": category,
            "severity": "high",
            "title": f"Finding {place} on a change of control",
            "description": "Needs prior written consent of the Provider, with notice of thirty days. " * 2,
            "citations": [{"file": f"{case}.md", "quote": "a change of control counts as an assignment"}],
        }
        for place, category in enumerate(CATEGORIES)
    ]
    with open(f"{folder}/golden/contracts/{case}.md", "w") as out:
        out.write(f"# {case}\n\n" + CLAUSE * 12)
    for agent in agents:
        outputs = {"findings": findings, "gaps": []}
        run = {"schema": "goldgate.run/1", "agent": agent, "case": case, "sample": 0, "status": "completed", "outputs": outputs}
        with open(f"{folder}/golden/expected/{agent}/{case}.json", "w") as out:
            json.dump(expected, out)
        with open(f"{folder}/golden/runs/{agent}/{case}.json", "w") as out:
            json.dump(run, out)
