"""An agent of pydantic-ai with a tool."""
import sys

from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel

SYSTEM = "You help customers of Acme. Answer in one sentence."
agent = Agent(OpenAIChatModel("smollm2"), system_prompt=SYSTEM, model_settings={"max_tokens": 24, "temperature": 1})


@agent.tool_plain
def find_order(order: int) -> dict:
    """Finds an order by its number."""
    return {"order": order, "status": "shipped", "day": "2026-03-04"}


print("Acme:", agent.run_sync(sys.stdin.read().strip()).output)
