"""An agent as a graph of LangGraph: one node may call the tool, one runs it, and one answers."""
import sys

from langchain_core.messages import HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode

SYSTEM = "You help customers of Acme. Answer in one sentence."


@tool
def find_order(order: int) -> str:
    """Finds an order by its number."""
    return f'{{"order": {order}, "status": "shipped", "day": "2026-03-04"}}'


model = ChatOpenAI(model="smollm2", max_tokens=24, temperature=1)


def plan(state: MessagesState):
    return {"messages": [model.bind_tools([find_order]).invoke(state["messages"])]}


def answer(state: MessagesState):
    asked = [] if isinstance(state["messages"][-1], ToolMessage) else [HumanMessage("Please say it again.")]
    return {"messages": [model.invoke(state["messages"] + asked)]}


graph = StateGraph(MessagesState)
graph.add_node("plan", plan)
graph.add_node("tools", ToolNode([find_order]))
graph.add_node("answer", answer)
graph.add_edge(START, "plan")
graph.add_edge("plan", "tools")
graph.add_edge("tools", "answer")
graph.add_edge("answer", END)
result = graph.compile().invoke({"messages": [SystemMessage(SYSTEM), HumanMessage(sys.stdin.read().strip())]})
print("Acme:", result["messages"][-1].text)
