"""Writes dumps of LangChain's messages, and the runs that the LangSmith client sends, of one agent with a tool."""
import json
import re
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from langchain_core.load import dumpd
from langchain_core.messages import messages_to_dict
from langchain_core.tools import tool
from langchain_core.tracers import LangChainTracer
from langchain_openai import ChatOpenAI
from langgraph.prebuilt import create_react_agent
from langsmith import Client

import endpoint

FILES = Path(sys.argv[1])
BASE = endpoint.start()
SYSTEM, QUERY, RESULT = "You are the helper of Acme.", "Where is my order 17?", '{"state": "shipped", "on": "2026-03-04"}'


class Receiver(BaseHTTPRequestHandler):
    """Keeps the batches of runs that the client sends."""

    posts = []
    patches = []

    def log_message(self, *_):
        pass

    def answer(self, value):
        data = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        self.answer({"version": "0.10.0", "batch_ingest_config": {"use_multipart_endpoint": False, "size_limit": 100, "size_limit_bytes": 20971520, "scale_up_nthreads_limit": 1, "scale_up_qsize_trigger": 1000, "scale_down_nempty_trigger": 4}})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.posts.extend(body.get("post") or [])
        self.patches.extend(body.get("patch") or [])
        self.answer({})


def agent():
    @tool
    def find_order(order: int) -> str:
        """Finds an order."""
        return RESULT

    model = ChatOpenAI(model="model-a", base_url=f"{BASE}/v1", api_key="none", max_retries=0)
    return create_react_agent(model, [find_order], prompt=SYSTEM, name="helper")


def write(name, text):
    path = FILES / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def main():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    client = Client(api_url=f"http://127.0.0.1:{server.server_port}", api_key="none", auto_batch_tracing=True)
    tracer = LangChainTracer(client=client, project_name="helper")
    state = agent().invoke({"messages": [("user", QUERY)]}, config={"callbacks": [tracer], "metadata": {"thread_id": "t-17"}})
    client.flush()
    for _ in range(50):
        if any(patch.get("end_time") and not patch.get("parent_run_id") for patch in Receiver.patches + Receiver.posts):
            break
        time.sleep(0.1)
    write("langchain/messages.json", json.dumps(messages_to_dict(state["messages"]), indent=1))
    write("langchain/dumpd.json", json.dumps(dumpd(state["messages"]), indent=1))
    write("langchain/state.json", json.dumps(dumpd(state), indent=1))
    write("langchain/model-dump.json", json.dumps([message.model_dump() for message in state["messages"]], indent=1))
    runs = {}
    for run in Receiver.posts + Receiver.patches:
        runs.setdefault(run["id"], {}).update({key: value for key, value in run.items() if value is not None})
    lines = "".join(json.dumps(run) + "\n" for run in runs.values())
    # The client also notes the machine and the commit.
    lines = re.sub(r'"(platform|revision_id)": "[^"]*"', r'"\1": ""', lines)
    write("langsmith/runs.jsonl", lines)


main()
