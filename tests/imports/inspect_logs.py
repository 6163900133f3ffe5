"""Writes logs of inspect-ai, as .json and .eval, with its mock model and a tool."""
import json
import shutil
import sys
from pathlib import Path

import tiktoken
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, get_model
from inspect_ai.scorer import includes
from inspect_ai.solver import generate, system_message, use_tools
from inspect_ai.tool import tool

FILES = Path(sys.argv[1]) / "inspect"


@tool
def find_order():
    async def execute(order: int):
        """Finds an order.

        Args:
            order: The number of the order.
        """
        if order == 404:
            raise ValueError("no such order")
        return f"order {order} was shipped on 2026-03-04"

    return execute


def count_by_bytes():
    """The log counts tokens with a vocabulary that is downloaded; a token for each byte does as well."""
    ranks = {bytes([byte]): byte for byte in range(256)}
    coding = tiktoken.Encoding("bytes", pat_str=r"(?s:.)", mergeable_ranks=ranks, special_tokens={})
    tiktoken.get_encoding = lambda _name: coding


def task(name, samples, epochs=1):
    solver = [system_message("You are the helper of Acme."), use_tools(find_order()), generate()]
    return Task(dataset=samples, solver=solver, scorer=includes(), name=name, epochs=epochs)


def without_traces(text):
    """The log without the stacks of errors: they name the folders of this machine, and are long."""
    def walk(value):
        if isinstance(value, dict):
            return {key: "" if key.startswith("traceback") else walk(inner) for key, inner in value.items()}
        return [walk(inner) for inner in value] if isinstance(value, list) else value

    return json.dumps(walk(json.loads(text)), indent=1)


def main():
    shutil.rmtree(FILES, ignore_errors=True)
    samples = [
        Sample(id="order-17", input="Where is my order 17?", target="shipped", metadata={"thread": {"id": "t-17"}}),
        Sample(id=18, input="Where is my order 18?", target="shipped"),
    ]
    for form in ("json", "eval"):
        def answer(input, tools, tool_choice, config):
            text = next(message.text for message in input if message.role == "user")
            number = 17 if "17" in text else 18
            if not any(message.role == "tool" for message in input):
                return ModelOutput.for_tool_call("mockllm/model", "find_order", {"order": number})
            return ModelOutput.from_content("mockllm/model", f"Order {number} was shipped on 2026-03-04.")

        eval(
            task("orders", samples, epochs=2),
            model=get_model("mockllm/model", custom_outputs=answer, memoize=False),
            log_dir=str(FILES), log_format=form, display="none", log_samples=True, max_samples=1,
        )

    def fails(input, tools, tool_choice, config):
        if not any(message.role == "tool" for message in input):
            return ModelOutput.for_tool_call("mockllm/model", "find_order", {"order": 404})
        raise RuntimeError("the model is overloaded")

    eval(
        task("failing", [Sample(id="order-404", input="Where is my order 404?", target="shipped")]),
        model=get_model("mockllm/model", custom_outputs=fails, memoize=False),
        log_dir=str(FILES), log_format="json", display="none", fail_on_error=False, retry_on_error=0, max_samples=1,
    )
    for path in sorted(FILES.iterdir()):
        name = "failing" if "failing" in path.name else "orders"
        target = path.rename(FILES / f"{name}{path.suffix}")
        if name == "failing":
            target.write_text(without_traces(target.read_text()))


count_by_bytes()
main()
