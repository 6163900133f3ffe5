"""Writes what programs record that use the SDKs of OpenAI and Anthropic: bodies, event streams, exchanges, cassettes, lists of messages."""
import json
import sys
from pathlib import Path

import anthropic
import httpx
import httpx2
import openai
import vcr

import endpoint

FILES = Path(sys.argv[1])
BASE = endpoint.start()
FIND = {"type": "object", "properties": {"order": {"type": "integer"}}, "required": ["order"]}
CHAT_TOOL = {"type": "function", "function": {"name": "find_order", "description": "Finds an order.", "parameters": FIND}}
RESPONSE_TOOL = {"type": "function", "name": "find_order", "description": "Finds an order.", "parameters": FIND, "strict": False}
MESSAGE_TOOL = {"name": "find_order", "description": "Finds an order.", "input_schema": FIND}
SYSTEM, QUERY, RESULT = "You are the helper of Acme.", "Where is my order 17?", '{"state": "shipped", "on": "2026-03-04"}'


class Recorder:
    """Keeps the last exchanges of an httpx client as they went over the wire."""

    def __init__(self):
        self.exchanges = []

    def keep(self, response):
        response.read()
        body = response.text if "event-stream" in response.headers["content-type"] else response.json()
        self.exchanges.append({"request": json.loads(response.request.content), "response": body})

    def client(self, library=httpx):
        return library.Client(event_hooks={"response": [self.keep]}, trust_env=False)


def write(name, text):
    path = FILES / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def lines(values):
    return "".join(json.dumps(value) + "\n" for value in values)


def openai_client(recorder):
    return openai.OpenAI(base_url=f"{BASE}/v1", api_key="none", http_client=recorder.client(), max_retries=0)


def chat_agent(client, stream):
    """An agent's loop; returns its list of messages."""
    messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": QUERY}]
    for _ in range(2):
        if stream:
            with client.chat.completions.stream(model="model-a", messages=messages, tools=[CHAT_TOOL], stream_options={"include_usage": True}) as events:
                for _event in events:
                    pass
                message = events.get_final_completion().choices[0].message
        else:
            message = client.chat.completions.create(model="model-a", messages=messages, tools=[CHAT_TOOL]).choices[0].message
        messages.append(message.to_dict() if not stream else message.model_dump(exclude_none=True))
        for call in message.tool_calls or []:
            messages.append({"role": "tool", "tool_call_id": call.id, "content": RESULT})
    return messages


def response_agent(client, stream):
    items = [{"role": "user", "content": QUERY}]
    for _ in range(2):
        asked = dict(model="model-a", instructions=SYSTEM, input=items, tools=[RESPONSE_TOOL])
        if stream:
            with client.responses.stream(**asked) as events:
                for _event in events:
                    pass
                whole = events.get_final_response()
        else:
            whole = client.responses.create(**asked)
        for item in whole.output:
            items.append(item.model_dump(exclude_none=True))
            if item.type == "function_call":
                items.append({"type": "function_call_output", "call_id": item.call_id, "output": RESULT})
    return items


def message_agent(client, stream):
    messages = [{"role": "user", "content": QUERY}]
    for _ in range(2):
        asked = dict(model="model-b", max_tokens=100, system=SYSTEM, messages=messages, tools=[MESSAGE_TOOL])
        if stream:
            with client.messages.stream(**asked) as events:
                whole = events.get_final_message()
        else:
            whole = client.messages.create(**asked)
        content = [block.model_dump(exclude_none=True) for block in whole.content]
        messages.append({"role": "assistant", "content": content})
        results = [{"type": "tool_result", "tool_use_id": block.id, "content": RESULT} for block in whole.content if block.type == "tool_use"]
        if results:
            messages.append({"role": "user", "content": results})
    return messages


def write_openai():
    for name, agent in (("chat", chat_agent), ("responses", response_agent)):
        recorder = Recorder()
        write(f"openai/{name}-messages.json", json.dumps(agent(openai_client(recorder), stream=False), indent=1))
        write(f"openai/{name}-exchanges.jsonl", lines(recorder.exchanges))
        recorder = Recorder()
        agent(openai_client(recorder), stream=True)
        write(f"openai/{name}-streamed-exchanges.jsonl", lines(recorder.exchanges))
        write(f"openai/{name}-call.sse", recorder.exchanges[0]["response"])
        write(f"openai/{name}-answer.sse", recorder.exchanges[1]["response"])
    recorder = Recorder()
    client = openai_client(recorder)
    client.chat.completions.create(model="model-a", n=2, messages=[{"role": "user", "content": QUERY}])
    client.chat.completions.create(model="model-a", messages=[{"role": "user", "content": "Tell me the secret."}])
    try:
        client.chat.completions.create(model="nobody", messages=[{"role": "user", "content": QUERY}])
    except openai.NotFoundError as error:
        write("openai/error.json", error.response.text)
    write("openai/choices-refusal-error.jsonl", lines(recorder.exchanges))
    write("openai/completion.json", json.dumps(recorder.exchanges[1]["response"], indent=1))


def write_anthropic():
    recorder = Recorder()
    client = lambda: anthropic.Anthropic(base_url=BASE, api_key="none", http_client=recorder.client(httpx2), max_retries=0)
    write("anthropic/messages.json", json.dumps(message_agent(client(), stream=False), indent=1))
    write("anthropic/exchanges.jsonl", lines(recorder.exchanges))
    write("anthropic/answer.json", json.dumps(recorder.exchanges[1]["response"], indent=1))
    recorder = Recorder()
    message_agent(client(), stream=True)
    write("anthropic/streamed-exchanges.jsonl", lines(recorder.exchanges))
    write("anthropic/call.sse", recorder.exchanges[0]["response"])
    write("anthropic/answer.sse", recorder.exchanges[1]["response"])
    recorder = Recorder()
    try:
        client().messages.create(model="nobody", max_tokens=9, messages=[{"role": "user", "content": QUERY}])
    except anthropic.NotFoundError as error:
        write("anthropic/error.json", error.response.text)
    write("anthropic/error-exchange.jsonl", lines(recorder.exchanges))


def write_cassettes():
    """What pytest-recording and vcrpy keep of a test. vcrpy does not see the SDK of Anthropic, which uses httpx2."""
    keep = dict(match_on=["method", "path", "body"], filter_headers=["authorization", "x-api-key", "user-agent"], record_mode="all")
    plain = lambda response: {"status": response["status"], "headers": {"content-type": response["headers"]["content-type"]}, "body": response["body"]}
    for serializer, suffix in (("yaml", "yaml"), ("json", "json")):
        tape = vcr.VCR(serializer=serializer, before_record_response=plain, **keep)
        for name, run in (
            ("chat", lambda: chat_agent(openai_client(Recorder()), stream=False)),
            ("chat-streamed", lambda: chat_agent(openai_client(Recorder()), stream=True)),
        ):
            path = FILES / f"cassettes/{name}.{suffix}"
            path.unlink(missing_ok=True)
            path.parent.mkdir(parents=True, exist_ok=True)
            with tape.use_cassette(str(path)):
                run()
            path.write_text(path.read_text().replace(BASE.removeprefix("http://"), "api.example.com"))


write_openai()
write_anthropic()
write_cassettes()
