"""A local stand-in for the model vendors' endpoints: it speaks their wire formats and answers from a table of synthetic conversations."""
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ANSWER = "Order 17 was shipped on 2026-03-04 with Acme Express."
CALL_ID = "call_1"


def asked(messages):
    """Whether the tool has answered already."""
    return any(
        message.get("role") == "tool"
        or message.get("type") == "function_call_output"
        or (isinstance(message.get("content"), list) and any(isinstance(part, dict) and part.get("type") == "tool_result" for part in message["content"]))
        for message in messages
        if isinstance(message, dict)
    )


def text_of(messages):
    return json.dumps(messages)


def chat_message(body):
    if body.get("tools") and not asked(body["messages"]):
        call = {"id": CALL_ID, "type": "function", "function": {"name": "find_order", "arguments": '{"order": 17}'}}
        return {"role": "assistant", "content": None, "tool_calls": [call]}, "tool_calls"
    if "secret" in text_of(body["messages"]):
        return {"role": "assistant", "content": None, "refusal": "I cannot help with that."}, "stop"
    return {"role": "assistant", "content": ANSWER}, "stop"


USAGE = {"prompt_tokens": 21, "completion_tokens": 9, "total_tokens": 30}


def chat(body):
    message, reason = chat_message(body)
    choices = [{"index": index, "message": message, "finish_reason": reason, "logprobs": None} for index in range(body.get("n") or 1)]
    return {"id": "chatcmpl-1", "object": "chat.completion", "created": 1767225600, "model": "model-a-2026-01-01", "choices": choices, "usage": USAGE}


def chat_stream(body):
    message, reason = chat_message(body)
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1767225600, "model": "model-a-2026-01-01"}
    chunk = lambda delta, end=None: {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": end}]}
    yield None, chunk({"role": "assistant", "content": ""})
    for call in message.get("tool_calls") or []:
        function = {"name": call["function"]["name"], "arguments": ""}
        yield None, chunk({"tool_calls": [{"index": 0, "id": call["id"], "type": "function", "function": function}]})
        arguments = call["function"]["arguments"]
        for piece in (arguments[:5], arguments[5:]):
            yield None, chunk({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]})
    for key in ("content", "refusal"):
        for word in (message.get(key) or "").split(" "):
            if word:
                yield None, chunk({key: word if word == ANSWER.split(" ")[0] else " " + word})
    yield None, chunk({}, reason)
    if (body.get("stream_options") or {}).get("include_usage"):
        yield None, {**head, "choices": [], "usage": USAGE}
    yield None, "[DONE]"


def response(body):
    items = body["input"] if isinstance(body["input"], list) else []
    if body.get("tools") and not asked(items):
        output = [{"type": "function_call", "id": "fc_1", "call_id": CALL_ID, "name": "find_order", "arguments": '{"order": 17}', "status": "completed"}]
    else:
        part = {"type": "output_text", "text": ANSWER, "annotations": []}
        output = [{"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [part]}]
    return {
        "id": "resp_1", "object": "response", "created_at": 1767225600, "status": "completed", "error": None, "incomplete_details": None,
        "instructions": body.get("instructions"), "model": "model-a-2026-01-01", "output": output, "parallel_tool_calls": True,
        "tool_choice": "auto", "tools": body.get("tools") or [], "temperature": 1.0, "top_p": 1.0, "metadata": {},
        "usage": {"input_tokens": 21, "output_tokens": 9, "total_tokens": 30, "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}},
    }


def response_stream(body):
    whole = response(body)
    number = iter(range(100))
    event = lambda kind, **fields: (kind, {"type": kind, "sequence_number": next(number), **fields})
    yield event("response.created", response={**whole, "status": "in_progress", "output": [], "usage": None})
    for index, item in enumerate(whole["output"]):
        yield event("response.output_item.added", output_index=index, item={**item, "status": "in_progress"})
        if item["type"] == "message":
            yield event("response.output_text.delta", item_id=item["id"], output_index=index, content_index=0, delta=ANSWER, logprobs=[])
        yield event("response.output_item.done", output_index=index, item=item)
    yield event("response.completed", response=whole)


def message(body):
    if body.get("tools") and not asked(body["messages"]):
        content = [{"type": "text", "text": "I look the order up."}, {"type": "tool_use", "id": "toolu_1", "name": "find_order", "input": {"order": 17}}]
        reason = "tool_use"
    else:
        content, reason = [{"type": "text", "text": ANSWER}], "end_turn"
    usage = {"input_tokens": 21, "output_tokens": 9, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
    name = "msg_1" if reason == "tool_use" else "msg_2"
    return {"id": name, "type": "message", "role": "assistant", "model": "model-b-2026-01-01", "content": content, "stop_reason": reason, "stop_sequence": None, "usage": usage}


def message_stream(body):
    whole = message(body)
    event = lambda kind, **fields: (kind, {"type": kind, **fields})
    yield event("message_start", message={**whole, "content": [], "stop_reason": None, "usage": {**whole["usage"], "output_tokens": 1}})
    yield event("ping")
    for index, block in enumerate(whole["content"]):
        if block["type"] == "text":
            yield event("content_block_start", index=index, content_block={"type": "text", "text": ""})
            half = len(block["text"]) // 2
            for piece in (block["text"][:half], block["text"][half:]):
                yield event("content_block_delta", index=index, delta={"type": "text_delta", "text": piece})
        else:
            yield event("content_block_start", index=index, content_block={**block, "input": {}})
            text = json.dumps(block["input"])
            for piece in ("", text[:5], text[5:]):
                yield event("content_block_delta", index=index, delta={"type": "input_json_delta", "partial_json": piece})
        yield event("content_block_stop", index=index)
    yield event("message_delta", delta={"stop_reason": whole["stop_reason"], "stop_sequence": None}, usage={"output_tokens": 9})
    yield event("message_stop")


OPENAI_ERROR = {"error": {"message": "The model `nobody` does not exist", "type": "invalid_request_error", "param": None, "code": "model_not_found"}}
ANTHROPIC_ERROR = {"type": "error", "error": {"type": "not_found_error", "message": "model: nobody"}, "request_id": "req_1"}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        whole, stream, error = {
            "/v1/chat/completions": (chat, chat_stream, OPENAI_ERROR),
            "/v1/responses": (response, response_stream, OPENAI_ERROR),
            "/v1/messages": (message, message_stream, ANTHROPIC_ERROR),
        }[self.path.split("?")[0]]
        if body["model"] == "nobody":
            return self.send(404, "application/json", json.dumps(error))
        if body.get("stream"):
            return self.send(200, "text/event-stream", "".join(map(event_text, stream(body))))
        self.send(200, "application/json", json.dumps(whole(body)))

    def send(self, status, kind, text):
        data = text.encode()
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def event_text(event):
    name, data = event
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {data if isinstance(data, str) else json.dumps(data)}\n\n"


def start():
    """Starts the endpoint on a free port and returns its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"
