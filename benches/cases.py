"""Writes a repository with COUNT recorded cases of a findings suite. usage: cases.py COUNT FOLDER"""

import json
import os
import sys

count, folder = int(sys.argv[1]), sys.argv[2]
for name in [".git", "golden/contracts", "golden/expected/legal", "golden/runs/legal"]:
    os.makedirs(f"{folder}/{name}", exist_ok=True)
with open(f"{folder}/goldgate.yaml", "w") as out:
    out.write(
        "version: 1\nsuites:\n  - id: contracts\n    kind: findings\n    path: golden\n"
        "    agents:\n      legal: { deterministic: { replay: golden/runs } }\n"
    )
CLAUSE = (
    "The Client may not assign this Agreement without the prior written consent of the Provider, "
    "and a change of control counts as an assignment. "
)
CATEGORIES = ["change_of_control", "termination", "liability", "assignment"]
for number in range(count):
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
    run = {"schema": "goldgate.run/1", "agent": "legal", "case": case, "sample": 0, "status": "completed", "outputs": {"findings": findings, "gaps": []}}
    with open(f"{folder}/golden/contracts/{case}.md", "w") as out:
        out.write(f"# {case}\n\n" + CLAUSE * 12)
    with open(f"{folder}/golden/expected/legal/{case}.json", "w") as out:
        json.dump(expected, out)
    with open(f"{folder}/golden/runs/legal/{case}.json", "w") as out:
        json.dump(run, out)
