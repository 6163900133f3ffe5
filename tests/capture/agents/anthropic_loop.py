"""An agent on Anthropic's client, with a streamed answer."""
import json
import sys

from anthropic import Anthropic

SYSTEM = "You help customers of Acme. Answer in one sentence."
TOOL = {
    "name": "find_order",
    "description": "Finds an order by its number.",
    "input_schema": {"type": "object", "properties": {"order": {"type": "integer"}}, "required": ["order"]},
}


def find_order(order):
    return {"order": order, "status": "shipped", "day": "2026-03-04"}


client = Anthropic()
messages = [{"role": "user", "content": sys.stdin.read().strip()}]
asked = client.messages.create(
    model="smollm2", system=SYSTEM, messages=messages, tools=[TOOL], max_tokens=24
)
messages.append({"role": "assistant", "content": [block.model_dump(exclude_none=True) for block in asked.content]})
results = [
    {"type": "tool_result", "tool_use_id": block.id, "content": json.dumps(find_order(**block.input))}
    for block in asked.content
    if block.type == "tool_use"
]
messages.append({"role": "user", "content": results or "Please say it again."})
with client.messages.stream(model="smollm2", system=SYSTEM, messages=messages, tools=[TOOL], max_tokens=24) as stream:
    text = "".join(stream.text_stream)
print("Acme:", text)
