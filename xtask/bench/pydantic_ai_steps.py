"""How long one tool step of a pydantic-ai agent takes when the model costs nothing.

Usage: python pydantic_ai_steps.py STEPS

The model is the library's own function model, and there is one tool; nothing is written to disk.
Prints one JSON line.
"""

import asyncio
import sys

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.usage import UsageLimits

from steps import measure


def main() -> None:
    steps = int(sys.argv[1])
    calls: list[int] = []
    asked = 0

    def scripted(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        nonlocal asked
        asked += 1
        if asked > steps:
            return ModelResponse(parts=[TextPart("done")])
        return ModelResponse(parts=[ToolCallPart("add", {"a": asked, "b": 23}, f"call_{asked}")])

    agent = Agent(FunctionModel(scripted))

    @agent.tool_plain
    def add(a: int, b: int) -> int:
        """Adds two numbers."""
        calls.append(a)
        return a + b

    # One event loop for all runs: making one for each is no part of a step.
    loop = asyncio.new_event_loop()
    limits = UsageLimits(request_limit=None)

    def run() -> None:
        nonlocal asked
        asked = 0
        calls.clear()
        end = loop.run_until_complete(agent.run("What is it?", usage_limits=limits))
        assert end.output == "done" and len(calls) == steps

    measure("pydantic-ai", steps, run)
    loop.close()


main()
