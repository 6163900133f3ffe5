"""Writes what programs record that use the SDKs of Gemini, Bedrock and Ollama, and what Google's ADK keeps of an agent: vendors.py FOLDER.

The endpoint of this file answers in the vendors' wire formats; each exchange is kept as it went over the wire."""
import asyncio
import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import boto3
import ollama
from google import genai
from google.adk.agents import LlmAgent
from google.adk.evaluation.eval_case import EvalCase, IntermediateData, Invocation, SessionInput
from google.adk.evaluation.eval_set import EvalSet
from google.adk.evaluation.local_eval_sets_manager import convert_eval_set_to_pydantic_schema
from google.adk.models.google_llm import Gemini
from google.adk.runners import InMemoryRunner
from google.genai import types

from endpoint import ANSWER

FILES = Path(sys.argv[1])
SYSTEM, QUERY, RESULT = "You are the helper of Acme.", "Where is my order 17?", {"state": "shipped", "on": "2026-03-04"}
SCHEMA = {"type": "object", "properties": {"order": {"type": "integer"}}, "required": ["order"]}
EXCHANGES = []


def gemini(body):
    found = "functionResponse" in json.dumps(body["contents"])
    part = {"text": ANSWER} if found else {"functionCall": {"name": "find_order", "args": {"order": 17}}}
    thought = {"text": "I think.", "thought": True}
    usage = {"promptTokenCount": 21, "candidatesTokenCount": 5, "thoughtsTokenCount": 4, "totalTokenCount": 30}
    return {"candidates": [{"content": {"role": "model", "parts": [thought, part]}, "finishReason": "STOP", "index": 0}],
            "usageMetadata": usage, "modelVersion": "model-g-001", "responseId": "r1"}


def gemini_stream(body):
    whole = gemini(body)
    candidate = whole["candidates"][0]
    thought, part = candidate["content"]["parts"]
    pieces = [{"text": part["text"][:9]}, {"text": part["text"][9:]}] if "text" in part else [part]
    for index, piece in enumerate([thought, *pieces]):
        content = {**candidate, "content": {"role": "model", "parts": [piece]}}
        if index < len(pieces):
            del content["finishReason"]
        yield {**whole, "candidates": [content]}


def bedrock(body):
    found = "toolResult" in json.dumps(body["messages"])
    call = {"toolUse": {"toolUseId": "t1", "name": "find_order", "input": {"order": 17}}}
    content = [{"text": ANSWER}] if found else [{"text": "I look the order up."}, call]
    return {"output": {"message": {"role": "assistant", "content": content}}, "stopReason": "end_turn" if found else "tool_use",
            "usage": {"inputTokens": 21, "outputTokens": 9, "totalTokens": 30}, "metrics": {"latencyMs": 7}}


def chat(body):
    found = body["messages"][-1]["role"] == "tool"
    call = {"function": {"name": "find_order", "arguments": {"order": 17}}}
    message = {"role": "assistant", "content": ANSWER} if found else {"role": "assistant", "content": "", "tool_calls": [call]}
    return {"model": body["model"], "created_at": "2026-01-01T00:00:00Z", "message": message, "done_reason": "stop", "done": True,
            "total_duration": 9, "prompt_eval_count": 21, "eval_count": 9}


def chat_stream(body):
    whole = chat(body)
    head = {key: whole[key] for key in ("model", "created_at")}
    text = whole["message"]["content"]
    for piece in filter(None, (text[:9], text[9:])):
        yield {**head, "message": {"role": "assistant", "content": piece}, "done": False}
    if not text:
        yield {**head, "message": whole["message"], "done": False}
    yield {**whole, "message": {"role": "assistant", "content": ""}}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if "streamGenerateContent" in self.path:
            kind, text = "text/event-stream", "".join(f"data: {json.dumps(event)}\r\n\r\n" for event in gemini_stream(body))
        elif body.get("stream"):
            kind, text = "application/x-ndjson", "".join(f"{json.dumps(event)}\n" for event in chat_stream(body))
        else:
            answer = gemini if "generateContent" in self.path else bedrock if "converse" in self.path else chat
            kind, text = "application/json", json.dumps(answer(body))
        EXCHANGES.append({"request": body, "response": json.loads(text) if kind == "application/json" else text})
        data = text.encode()
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def write(name, text):
    path = FILES / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def write_exchanges(name):
    write(name, "".join(json.dumps(exchange) + "\n" for exchange in EXCHANGES))
    EXCHANGES.clear()


def write_gemini(base):
    client = genai.Client(api_key="none", http_options={"base_url": base})
    declared = types.FunctionDeclaration(name="find_order", description="Finds an order.", parameters_json_schema=SCHEMA)
    config = types.GenerateContentConfig(system_instruction=SYSTEM, tools=[types.Tool(function_declarations=[declared])])
    for stream in (False, True):
        contents = [types.Content(role="user", parts=[types.Part(text=QUERY)])]
        for _ in range(2):
            asked = dict(model="model-g", contents=contents, config=config)
            if stream:
                chunks = list(client.models.generate_content_stream(**asked))
                parts = [part for chunk in chunks for part in chunk.candidates[0].content.parts]
                contents.append(types.Content(role="model", parts=parts))
            else:
                contents.append(client.models.generate_content(**asked).candidates[0].content)
            for part in contents[-1].parts:
                if part.function_call:
                    contents.append(types.Content(role="user", parts=[types.Part.from_function_response(name="find_order", response=RESULT)]))
        write_exchanges(f"gemini/{'streamed-' if stream else ''}exchanges.jsonl")
    write("gemini/contents.json", json.dumps([content.model_dump(mode="json") for content in contents], indent=1))


def write_bedrock(base):
    client = boto3.client("bedrock-runtime", endpoint_url=base, region_name="eu-central-1", aws_access_key_id="none", aws_secret_access_key="none")
    tools = {"tools": [{"toolSpec": {"name": "find_order", "description": "Finds an order.", "inputSchema": {"json": SCHEMA}}}]}
    messages = [{"role": "user", "content": [{"text": QUERY}]}]
    for _ in range(2):
        message = client.converse(modelId="model-b", system=[{"text": SYSTEM}], messages=messages, toolConfig=tools)["output"]["message"]
        messages.append(message)
        calls = [part["toolUse"] for part in message["content"] if "toolUse" in part]
        results = [{"toolResult": {"toolUseId": call["toolUseId"], "content": [{"json": RESULT}]}} for call in calls]
        if results:
            messages.append({"role": "user", "content": results})
    write_exchanges("bedrock/exchanges.jsonl")
    write("bedrock/messages.json", json.dumps(messages, indent=1))


def write_ollama(base):
    client = ollama.Client(host=base)
    tool = {"type": "function", "function": {"name": "find_order", "description": "Finds an order.", "parameters": SCHEMA}}
    for stream in (False, True):
        messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": QUERY}]
        for _ in range(2):
            answer = client.chat(model="model-l", messages=messages, tools=[tool], stream=stream)
            pieces = [piece.message for piece in (answer if stream else [answer])]
            calls = [call.model_dump() for piece in pieces for call in piece.tool_calls or []]
            messages.append({"role": "assistant", "content": "".join(piece.content or "" for piece in pieces), "tool_calls": calls})
            if calls:
                messages.append({"role": "tool", "tool_name": "find_order", "content": json.dumps(RESULT)})
        write_exchanges(f"ollama/{'streamed-' if stream else ''}exchanges.jsonl")


def find_order(order: int) -> dict:
    """Finds an order."""
    return RESULT


async def write_adk(base):
    model = Gemini(model="gemini-none", base_url=base)
    agent = LlmAgent(name="helper", model=model, instruction=SYSTEM, tools=[find_order])
    runner = InMemoryRunner(agent=agent, app_name="orders")
    session = await runner.session_service.create_session(app_name="orders", user_id="u1", session_id="s17")
    content = types.Content(role="user", parts=[types.Part(text=QUERY)])
    async for _ in runner.run_async(user_id="u1", session_id="s17", new_message=content):
        pass
    session = await runner.session_service.get_session(app_name="orders", user_id="u1", session_id="s17")
    write("adk/orders.session.json", session.model_dump_json(indent=1))
    EXCHANGES.clear()
    said = lambda role, text: types.Content(role=role, parts=[types.Part(text=text)])
    call = types.FunctionCall(id="c1", name="find_order", args={"order": 17})
    found = types.FunctionResponse(id="c1", name="find_order", response=RESULT)
    where = Invocation(invocation_id="i1", user_content=said("user", QUERY), final_response=said("model", ANSWER),
                       intermediate_data=IntermediateData(tool_uses=[call], tool_responses=[found]))
    thanks = Invocation(invocation_id="i2", user_content=said("user", "Thank you."), final_response=said("model", "You are welcome."))
    of_app = SessionInput(app_name="orders", user_id="u1")
    cases = [EvalCase(eval_id="order-17", conversation=[where], session_input=of_app, creation_timestamp=1767225600.5),
             EvalCase(eval_id="thanks", conversation=[where, thanks], session_input=of_app)]
    whole = EvalSet(eval_set_id="orders", name="orders", eval_cases=cases)
    write("adk/orders.evalset.json", whole.model_dump_json(indent=1, exclude_none=True))
    write("adk/camel.evalset.json", whole.model_dump_json(indent=1, by_alias=True))
    old = [{"query": QUERY, "expected_tool_use": [{"tool_name": "find_order", "tool_input": {"order": 17}}], "reference": ANSWER}]
    # The form of before, which the kit still converts.
    convert_eval_set_to_pydantic_schema("old", [{"name": "old", "data": old, "initial_session": {}}])
    write("adk/old.test.json", json.dumps(old, indent=1))


# The kit asks for a key before it asks the model.
os.environ["GOOGLE_API_KEY"] = "none"
server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
address = f"http://127.0.0.1:{server.server_port}"
write_gemini(address)
write_bedrock(address)
write_ollama(address)
asyncio.run(write_adk(address))
