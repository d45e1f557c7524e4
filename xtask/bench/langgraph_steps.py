"""How long one tool step of a langgraph agent takes when the model costs nothing.

Usage: python langgraph_steps.py STEPS

The agent is the library's own ready-made one, with a scripted chat model and one tool, and without a
checkpointer: nothing is written to disk. Prints one JSON line.
"""

import sys
import warnings
from typing import Any

from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool

from steps import measure

# The ready-made agent is about to move to another package; it is the same graph there.
warnings.filterwarnings("ignore", message=".*create_react_agent.*")

from langgraph.prebuilt import create_react_agent  # noqa: E402


class Scripted(BaseChatModel):
    """Asks for the tool so many times, each time with other arguments, and then answers."""

    steps: int
    asked: int = 0

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **kwargs: Any) -> "Scripted":
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        self.asked += 1
        if self.asked > self.steps:
            message = AIMessage(content="done")
        else:
            call = {"name": "add", "args": {"a": self.asked, "b": 23}, "id": f"call_{self.asked}"}
            message = AIMessage(content="", tool_calls=[call])
        return ChatResult(generations=[ChatGeneration(message=message)])


def main() -> None:
    steps = int(sys.argv[1])
    calls: list[int] = []

    @tool
    def add(a: int, b: int) -> int:
        """Adds two numbers."""
        calls.append(a)
        return a + b

    model = Scripted(steps=steps)
    agent = create_react_agent(model, [add])
    config = {"recursion_limit": 10 * steps + 10}

    def run() -> None:
        model.asked = 0
        calls.clear()
        end = agent.invoke({"messages": [HumanMessage("What is it?")]}, config)
        assert end["messages"][-1].content == "done" and len(calls) == steps

    measure("langgraph", steps, run)


main()
