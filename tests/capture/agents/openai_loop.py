"""An agent on OpenAI's client: it looks an order up with a tool, and answers."""
import json
import sys

from openai import OpenAI

SYSTEM = "You help customers of Acme. Answer in one sentence."
TOOL = {
    "type": "function",
    "function": {
        "name": "find_order",
        "description": "Finds an order by its number.",
        "parameters": {"type": "object", "properties": {"order": {"type": "integer"}}, "required": ["order"]},
    },
}


def find_order(order):
    return {"order": order, "status": "shipped", "day": "2026-03-04"}


client = OpenAI()
messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": sys.stdin.read().strip()}]
asked = client.chat.completions.create(
    model="smollm2", messages=messages, tools=[TOOL], max_tokens=24, temperature=1
)
message = asked.choices[0].message
messages.append(message.model_dump(exclude_none=True))
if not message.tool_calls:
    messages.append({"role": "user", "content": "Please say it again."})
for call in message.tool_calls or []:
    result = find_order(**json.loads(call.function.arguments))
    messages.append({"role": "tool", "tool_call_id": call.id, "content": json.dumps(result)})
answer = client.chat.completions.create(model="smollm2", messages=messages, max_tokens=24, temperature=1)
print("Acme:", answer.choices[0].message.content)
