"""Writes the spans of one agent by one instrumentation: spans.py FILES NAME. Each instrumentation changes the SDK, so each runs alone."""
import gzip
import json
import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from opentelemetry import trace
from opentelemetry.exporter.otlp.json.file.trace_exporter import FileSpanExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor

import endpoint

FILES, NAME = Path(sys.argv[1]) / "otlp", sys.argv[2]
BASE = endpoint.start()
SYSTEM, QUERY, RESULT = "You are the helper of Acme.", "Where is my order 17?", '{"state": "shipped", "on": "2026-03-04"}'
FIND = {"type": "object", "properties": {"order": {"type": "integer"}}, "required": ["order"]}
TOOL = {"type": "function", "function": {"name": "find_order", "description": "Finds an order.", "parameters": FIND}}


class Receiver(BaseHTTPRequestHandler):
    """Keeps the bodies that the protobuf exporter sends."""

    bodies = []

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        self.bodies.append(gzip.decompress(body) if self.headers.get("content-encoding") == "gzip" else body)
        self.send_response(200)
        self.end_headers()


def start_tracing():
    FILES.mkdir(parents=True, exist_ok=True)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    provider = TracerProvider(resource=Resource({"service.name": "helper"}))
    path = FILES / f"{NAME}.jsonl"
    path.unlink(missing_ok=True)
    provider.add_span_processor(SimpleSpanProcessor(FileSpanExporter(str(path))))
    provider.add_span_processor(SimpleSpanProcessor(OTLPSpanExporter(f"http://127.0.0.1:{server.server_port}/v1/traces")))
    trace.set_tracer_provider(provider)
    return provider


def client():
    import openai

    return openai.OpenAI(base_url=f"{BASE}/v1", api_key="none", max_retries=0)


def loop(call):
    """An agent's loop inside one span."""
    with trace.get_tracer("helper").start_as_current_span("helper", attributes={"session.id": "s-17", "thread": "t-17"}):
        messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": QUERY}]
        for _ in range(2):
            message = call(messages)
            messages.append(message.model_dump(exclude_none=True))
            for one in message.tool_calls or []:
                messages.append({"role": "tool", "tool_call_id": one.id, "content": RESULT})


def openinference_openai():
    from openinference.instrumentation.openai import OpenAIInstrumentor

    OpenAIInstrumentor().instrument()
    agent = client()
    loop(lambda messages: agent.chat.completions.create(model="model-a", messages=messages, tools=[TOOL]).choices[0].message)


def openinference_openai_responses():
    from openinference.instrumentation.openai import OpenAIInstrumentor

    OpenAIInstrumentor().instrument()
    client().responses.create(model="model-a", instructions=SYSTEM, input=QUERY)


def openinference_langchain():
    from langchain_core.tools import tool
    from langchain_openai import ChatOpenAI
    from langgraph.prebuilt import create_react_agent
    from openinference.instrumentation.langchain import LangChainInstrumentor

    LangChainInstrumentor().instrument()

    @tool
    def find_order(order: int) -> str:
        """Finds an order."""
        return RESULT

    model = ChatOpenAI(model="model-a", base_url=f"{BASE}/v1", api_key="none", max_retries=0)
    create_react_agent(model, [find_order], prompt=SYSTEM, name="helper").invoke({"messages": [("user", QUERY)]})


def openinference_anthropic():
    import anthropic
    from openinference.instrumentation.anthropic import AnthropicInstrumentor

    AnthropicInstrumentor().instrument()
    agent = anthropic.Anthropic(base_url=BASE, api_key="none", max_retries=0)
    tool = {"name": "find_order", "description": "Finds an order.", "input_schema": FIND}
    with trace.get_tracer("helper").start_as_current_span("helper"):
        messages = [{"role": "user", "content": QUERY}]
        for _ in range(2):
            whole = agent.messages.create(model="model-b", max_tokens=100, system=SYSTEM, messages=messages, tools=[tool])
            messages.append({"role": "assistant", "content": [block.model_dump(exclude_none=True) for block in whole.content]})
            messages.append({"role": "user", "content": [{"type": "tool_result", "tool_use_id": block.id, "content": RESULT} for block in whole.content if block.type == "tool_use"]})


def opentelemetry_openai():
    from opentelemetry.instrumentation.openai import OpenAIInstrumentor

    OpenAIInstrumentor().instrument()
    agent = client()
    loop(lambda messages: agent.chat.completions.create(model="model-a", messages=messages, tools=[TOOL]).choices[0].message)


def pydantic_ai():
    from pydantic_ai import Agent
    from pydantic_ai.capabilities import Instrumentation
    from pydantic_ai.models.instrumented import InstrumentationSettings
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    for version in (2, 3, 4, 5):
        model = OpenAIChatModel("model-a", provider=OpenAIProvider(base_url=f"{BASE}/v1", api_key="none"))
        watch = Instrumentation(settings=InstrumentationSettings(version=version))
        agent = Agent(model, name="helper", system_prompt=SYSTEM, capabilities=[watch])

        @agent.tool_plain
        def find_order(order: int) -> str:
            """Finds an order."""
            return RESULT

        agent.run_sync(QUERY)


def langfuse_sdk():
    from langfuse import Langfuse

    langfuse = Langfuse(public_key="pk-lf-none", secret_key="sk-lf-none", base_url=BASE, tracer_provider=provider)
    agent = client()

    def ask(messages):
        with langfuse.start_as_current_observation(as_type="generation", name="answer", model="model-a", input=messages) as generation:
            whole = agent.chat.completions.create(model="model-a", messages=messages, tools=[TOOL])
            message = whole.choices[0].message
            usage = {"input": whole.usage.prompt_tokens, "output": whole.usage.completion_tokens}
            generation.update(output=message.model_dump(exclude_none=True), usage_details=usage)
        for call in message.tool_calls or []:
            with langfuse.start_as_current_observation(as_type="tool", name=call.function.name, input=json.loads(call.function.arguments)) as tool:
                tool.update(output=RESULT)
        return message

    with langfuse.start_as_current_observation(as_type="agent", name="helper"):
        messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": QUERY}]
        for _ in range(2):
            message = ask(messages)
            messages.append(message.model_dump(exclude_none=True))
            for one in message.tool_calls or []:
                messages.append({"role": "tool", "tool_call_id": one.id, "content": RESULT})
    langfuse.flush()


def failing_openai():
    from openinference.instrumentation.openai import OpenAIInstrumentor

    OpenAIInstrumentor().instrument()
    # The stack would name the folders of this machine.
    traceback.format_exception = lambda *_, **__: ["no stack"]
    try:
        client().chat.completions.create(model="nobody", messages=[{"role": "user", "content": QUERY}])
    except Exception:
        pass


provider = start_tracing()
globals()[NAME.replace("-", "_")]()
provider.force_flush()
(FILES / f"{NAME}.pb").write_bytes(b"".join(Receiver.bodies))
