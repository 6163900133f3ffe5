"""The agents of the month: they answer from the question alone, and a die decides whether they err.

A repository's own agent, `src/agent.py`, imports this file. So does the recorder of a team that records without goldgate. An answer depends
on the agent's texts (its prompt and its sources), on the case, on the sample, and on the session: each recording throws the dice again.
"""

import json
import os
import random
import re
import sys
from pathlib import Path

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"

# How often an agent is right: for findings in each finding, else in each answer.
START = {"findings": 0.95, "chat": 0.965, "interview": 0.97, "evidence": 0.97, "invoices": 0.97}

# A line that makes the agent better, wherever it is in its texts. Six of them lead from 95% to 98.6%.
GAIN = "Check once more:"
GAIN_EACH = 0.006

# What makes the agent worse: the words, the points that it loses, and in which share of the cases. The first one is hard to find in a
# chat: there it costs half of the points.
LOSSES = {
    "Be as brief as possible.": (0.45, 0.5),
    "[:limit // 2]": (0.45, 1.0),
    "Rule 3 was removed.": (0.30, 1.0),
    '"model-small"': (0.30, 1.0),
}

# How often an agent with short answers says the same in other words. A finding is free text: its words differ in nearly every recording.
OTHER_WORDS = 0.1
OPENINGS = ["This matters", "To be checked", "The contract says", "A buyer has to know", "Worth a look", "Seen in the text"]
CLOSINGS = ["Ask a lawyer.", "Both sides are bound.", "The text is clear.", "Nothing limits it.", "It is usual.", "Change it."]


def agent_texts(folder, prompt):
    """The prompt and the sources of the agent in this folder, as one text."""
    sources = sorted(path for path in Path(folder, "src").rglob("*") if path.suffix in (".py", ".json"))
    return "\n".join(path.read_text() for path in [Path(folder, prompt), *sources])


def is_right_how_often(kind, texts, case):
    """The probability that the agent is right in this case."""
    chance = START[kind] + GAIN_EACH * texts.count(GAIN)
    for words, (points, share) in LOSSES.items():
        is_concerned = random.Random(f"{words} {case}").random() < share
        if words in texts and is_concerned:
            chance -= points / 2 if kind == "chat" and share < 1.0 else points
    return min(chance, 0.995)


class Answer:
    """What an agent says in one sample: the outputs, and its steps (calls, events) where it has some."""

    def __init__(self, outputs, steps=None):
        self.outputs = outputs
        self.steps = steps or {}


def answer(kind, texts, case, question, session, sample):
    """The answer to one question. `session` says which recording it is: another one throws other dice."""
    dice = random.Random(f"{session} {case} {sample}")
    chance = is_right_how_often(kind, texts, case)
    return ANSWERS[kind](case, question, chance, dice)


def answer_findings(case, document, chance, dice):
    """One finding for each section of the document, as far as the agent sees it."""
    findings = []
    for category, sentence in re.findall(r"^## (\w+)\n\n(.+)$", document, re.MULTILINE):
        if dice.random() < chance:
            words = f"{dice.choice(OPENINGS)}: {sentence} {dice.choice(CLOSINGS)}"
            findings.append({
                "category": category,
                "severity": "high",
                "title": category.replace("_", " "),
                "description": words,
                "citations": [{"file": f"{case}.md", "quote": sentence}],
            })
    return Answer({"findings": findings, "gaps": []})


# What the shop's tools know: the first word of the tool's name decides what the helper says.
SAYS = {
    "find_order": "Order {number} arrives on Monday.",
    "refund_status": "The refund of order {number} is on its way.",
    "opening_hours": "Shop {number} opens at nine.",
    "find_price": "Article {number} costs 20 euros.",
    "change_address": "The address of order {number} was changed.",
}


TOOL_OF_WORD = {
    "arrive": "find_order",
    "refund": "refund_status",
    "open": "opening_hours",
    "cost": "find_price",
    "address": "change_address",
}


def answer_chat(case, question, chance, dice):
    """One call of a tool, and one sentence. The tool is the one whose question it is: `chat_tool`."""
    tool = chat_tool(question)
    number = re.search(r"\d+", question).group()
    text = SAYS[tool].format(number=number)
    if dice.random() < OTHER_WORDS:
        text = f"Thank you for waiting. {text}"
    if dice.random() >= chance:
        return Answer({"text": "I am not sure. Please ask again later."}, steps={"tool_calls": []})
    call = {"name": tool, "arguments": {"number": int(number)}, "result": text}
    return Answer({"text": text}, steps={"tool_calls": [call]})


def chat_tool(question):
    """The tool that answers a question."""
    return next(tool for word, tool in TOOL_OF_WORD.items() if word in question)


def answer_interview(case, _question, chance, dice):
    """The outputs of the bundled recording, or only its first atom."""
    outputs = bundled_recording("interview/runs/interviewer", case)["outputs"]
    if dice.random() >= chance:
        outputs["atoms"] = outputs["atoms"][:1]
    elif dice.random() < OTHER_WORDS:
        outputs["questions"] = [*outputs.get("questions", []), "Is there anything else?"]
    return Answer(outputs)


def answer_evidence(case, _question, chance, dice):
    """The outputs of the bundled recording with its steps, or another result."""
    recording = bundled_recording("evidence/runs/inspector", case)
    outputs = recording["outputs"]
    if dice.random() >= chance:
        outputs["result"] = {"diagnosis": "The cause was not found."}
    return Answer(outputs, steps=recording["intermediate"])


def bundled_recording(folder, case):
    """The first sample of a recording in goldgate's fixtures."""
    return json.loads((FIXTURES / folder / case / "0.json").read_text())


def answer_invoices(_case, question, chance, dice):
    """Number, total and currency of an invoice, or another total."""
    number = re.search(r"Invoice (\S+)", question).group(1)
    currency, total = re.search(r"Total (\w+) ([\d.]+)", question).groups()
    total = float(total)
    if dice.random() >= chance:
        total += 10
    read = {"number": number, "total": total, "currency": currency}
    text = json.dumps(read)
    return Answer({"text": f"Here it is: {text}" if dice.random() < OTHER_WORDS else text})


ANSWERS = {
    "findings": answer_findings,
    "chat": answer_chat,
    "interview": answer_interview,
    "evidence": answer_evidence,
    "invoices": answer_invoices,
}


def used(session, case, sample):
    """The time and the tokens of an answer. A real agent takes seconds."""
    dice = random.Random(f"{session} {case} {sample} used")
    return {"total_latency_ms": dice.randrange(801, 4999), "total_tokens": dice.randrange(300, 900)}


def serve(kind, agent, shorten):
    """Answers goldgate's requests, one a line. `src/AGENT.py` of a repository calls it."""
    names = json.loads(Path("team.json").read_text())
    texts = agent_texts(".", f"{names.get('prompts', 'prompts')}/{agent}.md")
    session = os.environ["MONTH_SESSION"]
    for line in sys.stdin:
        request = json.loads(line)
        question = shorten(request["inputs"].get("text", ""))
        said = answer(kind, texts, request["case"], question, session, request["sample"])
        record = {
            "id": request["id"],
            "status": "completed",
            "outputs": said.outputs,
            "metrics": used(session, request["case"], request["sample"]),
        }
        print(json.dumps(record), flush=True)
