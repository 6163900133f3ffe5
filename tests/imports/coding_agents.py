"""Sessions of Claude Code and of Codex, as the programs themselves write them: coding_agents.py FOLDER CLAUDE CODEX.

Each works in an empty folder with one file, against endpoint.py in place of its vendor."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import endpoint

QUESTION = "Where is my order 17?"
COMMAND = "cat order-17.txt"


def message(body):
    whole = plain_message(body)
    for block in whole["content"]:
        if block["type"] == "tool_use":
            block.update(name="Bash", input={"command": COMMAND, "description": "Reads the order"})
    return whole


def response(body):
    whole = plain_response(body)
    for item in whole["output"]:
        if item["type"] == "function_call":
            names = [tool.get("name") for tool in body["tools"]]
            name = "exec_command" if "exec_command" in names else "shell"
            arguments = {"cmd": COMMAND} if name == "exec_command" else {"command": ["bash", "-lc", COMMAND]}
            item.update(name=name, arguments=json.dumps(arguments))
    return whole


plain_message, plain_response = endpoint.message, endpoint.response
endpoint.message, endpoint.response = message, response


def run(command, folder, variables):
    home = pathlib.Path(folder) / "home"
    home.mkdir()
    work = pathlib.Path(folder) / "work"
    work.mkdir()
    (work / "order-17.txt").write_text("Order 17 was shipped.\n")
    clean = {"PATH": os.environ["PATH"], "HOME": str(home), **variables(home)}
    ran = subprocess.run(command, cwd=work, env=clean, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=180)
    if ran.returncode:
        sys.exit(f"{command[0]}: {ran.stdout}{ran.stderr}")
    return home, ran.stdout


def shortened(value):
    """Without most of the programs' own instructions, which are long and not the point."""
    if isinstance(value, str):
        return value if len(value) < 300 else value[:60] + " … " + value[-60:]
    if isinstance(value, list):
        return [shortened(one) for one in value]
    if isinstance(value, dict):
        return {key: shortened(one) for key, one in value.items()}
    return value


def lines(text, folder):
    return [shortened(json.loads(line)) for line in text.replace(str(folder), "/tmp/acme").splitlines()]


def write(file, records):
    file.write_text("".join(json.dumps(record) + "\n" for record in records))


def claude(out, program, address):
    out.mkdir(parents=True, exist_ok=True)
    variables = lambda home: {
        "ANTHROPIC_BASE_URL": address,
        "ANTHROPIC_API_KEY": "none",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_AUTOUPDATER": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CONFIG_DIR": str(home / "claude"),
    }
    command = [program, "-p", QUESTION, "--output-format", "stream-json", "--verbose", "--allowedTools", "Bash"]
    with tempfile.TemporaryDirectory() as folder:
        home, printed = run(command, folder, variables)
        write(out / "stream.jsonl", lines(printed, folder))
        # claude-code-action writes the same messages as one list.
        (out / "execution.json").write_text(json.dumps(lines(printed, folder), indent=2) + "\n")
        (session,) = (home / "claude" / "projects").rglob("*.jsonl")
        write(out / "session.jsonl", lines(session.read_text(), folder))


def codex(out, program, address):
    out.mkdir(parents=True, exist_ok=True)
    settings = ['model_provider="acme"', 'model_providers.acme={name="acme",base_url="%s/v1",env_key="ACME_KEY",wire_api="responses"}' % address]
    command = [program, "exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "-m", "model-a"]
    for setting in settings:
        command += ["-c", setting]
    with tempfile.TemporaryDirectory() as folder:
        home, printed = run(command + [QUESTION], folder, lambda home: {"ACME_KEY": "none", "CODEX_HOME": make(home / "codex")})
        write(out / "exec.jsonl", lines(printed, folder))
        (rollout,) = (home / "codex" / "sessions").rglob("rollout-*.jsonl")
        write(out / "rollout.jsonl", lines(rollout.read_text(), folder))


def make(folder):
    folder.mkdir(parents=True)
    return str(folder)


if __name__ == "__main__":
    files, claude_program, codex_program = pathlib.Path(sys.argv[1]), *map(shutil.which, sys.argv[2:])
    address = endpoint.start()
    claude(files / "claude-code", claude_program, address)
    codex(files / "codex", codex_program, address)
