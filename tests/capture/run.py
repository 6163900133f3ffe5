"""Records agents on real clients with `goldgate record`, stops the model, replays the code of each to the same numbers, and changes it.

usage: run.py BINARY TOOLS UPSTREAM PID [TOOL]; TOOLS has a venv and node_modules, PID is the model's server, TOOL is the tool that it calls.
Prints a table in Markdown. Fails if a
replay differs, a call leaves the machine, or a change is not caught."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
AGENTS = {
    "openai": "openai_loop.py",
    "anthropic": "anthropic_loop.py",
    "langgraph": "langgraph_loop.py",
    "pydantic-ai": "pydantic_tool.py",
    "openai-node": "openai_stream.ts",
    "vercel-ai": "vercel_ai.ts",
}
QUERIES = ["Where is my order 17?", "Was order 9 shipped?"]
# What the recordings cannot answer, and what only the code does.
CHANGES = [
    ("another prompt", "Answer in one sentence.", "Answer in two sentences.", 3),
    ("another answer", "Acme:", "Nobody:", 1),
]


def command(tools, agent):
    file = f"agents/{AGENTS[agent]}"
    if file.endswith(".py"):
        return [str(tools / "venv/bin/python"), file]
    return ["node", "node_modules/tsx/dist/cli.mjs", file]


def config(tools, exchanges):
    agents, targets = "", ""
    for agent in AGENTS:
        source = f"{{ replay: exchanges, target: {agent}, recordings: runs }}" if exchanges else "{ replay: runs }"
        agents += f"      {agent}: {{ deterministic: {source}, fingerprint: [agents/{AGENTS[agent]}] }}\n"
        capture = "anthropic" if agent == "anthropic" else "openai"
        targets += f"  {agent}: {{ command: {json.dumps(command(tools, agent))}, capture: {capture}, timeout: 120s }}\n"
    suite = "  - id: orders\n    kind: tool_use\n    policy: seed\n    path: cases.json\n    agents:\n"
    return f"version: 1\nbaseline: baseline.json\nsuites:\n{suite}{agents}targets:\n{targets}"


def goldgate(binary, folder, *arguments):
    environment = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "OPENAI_API_KEY": "local", "ANTHROPIC_API_KEY": "local"}
    ran = subprocess.run([binary, *arguments], cwd=folder, env=environment, capture_output=True, text=True)
    return ran.returncode, ran.stdout, ran.stderr


def numbers(report):
    (suite,) = report["suites"]
    agents = {}
    for agent in suite["agents"]:
        cases = [[case["case"], case["metrics"], case["samples_completed"]] for case in agent["cases"]]
        agents[agent["agent"]] = [{name: metric["value"] for name, metric in agent["metrics"].items()}, cases]
    return agents


def main(binary, tools, upstream, pid, *called):
    tools = pathlib.Path(tools)
    work = pathlib.Path(tempfile.mkdtemp())
    (work / ".git").mkdir()
    shutil.copytree(HERE / "agents", work / "agents")
    (work / "node_modules").symlink_to(tools / "node_modules")
    (work / "package.json").write_text('{ "type": "module" }\n')
    cases = [
        {"category": "happy_path", "query": query, "expected_tools": list(called), "expected_output_contains": ["Acme:"]}
        for query in QUERIES
    ]
    (work / "cases.json").write_text(json.dumps(cases))
    (work / "goldgate.yaml").write_text(config(tools, exchanges=True))
    begun = time.time()
    code, out, err = goldgate(binary, work, "record", "--quiet", "--upstream", upstream)
    print(f"recorded {len(out.splitlines())} cases of {len(AGENTS)} agents in {time.time() - begun:.0f} s\n")
    assert code == 0, f"record ended with {code}: {out}{err}"
    os.kill(int(pid), signal.SIGTERM)

    code, out, err = goldgate(binary, work, "run", "--format", "json", "--quiet")
    assert code == 0, f"the replay ended with {code}: {out[-3000:]}{err}"
    replayed = numbers(json.loads(out))
    code, out, err = goldgate(binary, work, "run", "--format", "json", "--quiet")
    assert numbers(json.loads(out)) == replayed, "a second replay has other numbers"
    (work / "goldgate.yaml").write_text(config(tools, exchanges=False))
    code, out, err = goldgate(binary, work, "run", "--format", "json", "--quiet")
    assert numbers(json.loads(out)) == replayed, f"the recordings have other numbers:\n{numbers(json.loads(out))}\n{replayed}"
    (work / "goldgate.yaml").write_text(config(tools, exchanges=True))

    print("| agent | calls of its model | replay | another prompt | another answer |\n|---|---|---|---|---|")
    for agent, file in AGENTS.items():
        path = work / "agents" / file
        text = path.read_text()
        row = []
        for name, old, new, wanted in CHANGES:
            assert old in text, f"{file} has no {old!r}"
            path.write_text(text.replace(old, new))
            code, out, err = goldgate(binary, work, "run", "--format", "json", "--quiet", "--agent", agent)
            assert code == wanted, f"{agent}, {name}: ended with {code}: {out[-3000:]}{err}"
            if wanted == 3:
                assert "not recorded" in out and "Answer in two sentences" in out, f"{agent}, {name}: {out[-3000:]}"
            row.append(f"exit code {code}")
        path.write_text(text)
        record = json.loads((work / "runs" / agent / "happy_path-0.json").read_text())
        assert "local" not in json.dumps(record["intermediate"]["exchanges"]).replace("localhost", ""), "a key is recorded"
        print(f"| {agent} | {record['metrics']['model_calls']} | same numbers | {row[0]} | {row[1]} |")
    shutil.rmtree(work)


if __name__ == "__main__":
    main(*sys.argv[1:])
