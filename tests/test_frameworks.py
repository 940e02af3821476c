"""The agent frameworks of docs/python.md themselves, offline: our tool as theirs, called by their own test models.

What the page shows for each is what is tested: its function ``learning`` is taken from there.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from agents.models.interface import Model
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.messages import ModelResponse as Said
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel

from agents import Agent as TheirAgent
from agents import FunctionTool, ModelResponse, RunConfig, Runner, Usage
from lessonbook import LearnSession, LearnTool, Settings, identify, open_memory
from lessonbook.core.ports import Memory

PAGE = Path(__file__).resolve().parent.parent / "docs" / "python.md"
SKILL = {"action": "create", "name": "release-check", "description": "Use before a release.", "body": "1. Look."}
CALLS: list[dict[str, Any]] = [
    {"memory": "Read the log first.", "context": "a red build"},
    {"memory": "Check before a release.", "skill": SKILL},
    {"memory": "Once more.", "skill": json.dumps(SKILL)},
    {"memory": 3},
    {"memory": "x", "why": "y"},
    {},
]
ANSWERS = [
    "Lesson stored.",
    'Lesson stored. Created managed skill "release-check".',
    "Lesson stored, but the managed skill could not be written: ",
    "memory must be text, not a number. Nothing was stored.",
    "The arguments holds the unknown field 'why'; known are memory, context, skill, scope. Nothing was stored.",
    "The arguments must hold memory. Nothing was stored.",
]


def learning(framework: str) -> Callable[[LearnTool], Any]:
    """Return the page's own ``learning`` for a framework."""
    block = next(
        text
        for text in re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
        if f"from {framework} import" in text
    )
    names: dict[str, Any] = {}
    exec(block.partition("\nhere, where = ")[0], names)
    found: Callable[[LearnTool], Any] = names["learning"]
    return found


@pytest.fixture
def memory(home: Path) -> Iterator[Memory]:
    opened = open_memory(_settings(home), identify(home), time.time, home)
    yield opened
    opened.close()


@pytest.fixture
def tool(home: Path, memory: Memory) -> LearnTool:
    found = LearnTool.create_if(_settings(home), LearnSession(home, "s", memory, home))
    assert found is not None
    return found


def _settings(home: Path) -> Settings:
    return Settings(home / "agent", autolearn_enabled=True, memory_backend="mnemopi")


def test_pydantic_ai_makes_its_own_arguments_from_our_schema(tool: LearnTool, memory: Memory) -> None:
    model = TestModel(call_tools=["learn"])
    ours = learning("pydantic_ai")(tool)
    done = asyncio.run(Agent(model, tools=[ours]).run("go"))
    assert "Lesson stored" in done.output
    assert memory.count() == 1
    assert model.last_model_request_parameters is not None
    told = model.last_model_request_parameters.function_tools[0]
    assert (told.name, told.description, told.parameters_json_schema) == ("learn", tool.description, tool.parameters)


@pytest.mark.parametrize("at_once", [True, False])
def test_pydantic_ai_calls_it_in_every_way(tool: LearnTool, memory: Memory, home: Path, at_once: bool) -> None:
    def model(messages: list[ModelMessage], info: AgentInfo) -> Said:
        if any(isinstance(part, ToolReturnPart) for part in messages[-1].parts):
            return Said([TextPart("done")])
        # One is given as an object, one as the JSON text that some models write.
        return Said([ToolCallPart("learn", call if at_once else json.dumps(call), str(n)) for n, call in calls])

    calls = list(enumerate(CALLS[:2] + CALLS[3:] if at_once else CALLS[:1]))
    done = asyncio.run(Agent(FunctionModel(model), tools=[learning("pydantic_ai")(tool)]).run("go"))
    parts = [part for one in done.all_messages() for part in one.parts if isinstance(part, ToolReturnPart)]
    told = {part.tool_call_id: str(part.content) for part in parts}
    wanted = ANSWERS[:2] + ANSWERS[3:] if at_once else ANSWERS[:1]
    assert [told[str(number)] for number, _ in calls] == wanted
    kept = ["Check before a release.", "Read the log first."] if at_once else ["Read the log first."]
    assert sorted(one.text for one in memory.recent()) == kept
    assert (home / "agent/managed-skills/release-check/SKILL.md").is_file() is at_once


class Scripted(Model):
    """A model by the SDK's own interface: calls the tool with each of ``calls`` in turn, then ends."""

    def __init__(self, calls: list[str]) -> None:
        self.calls, self.seen, self.instructions = calls, list[str](), ""
        self.schema: dict[str, Any] = {}

    async def get_response(
        self, system_instructions: Any, input: Any, model_settings: Any, tools: Any, *others: Any, **more: Any
    ) -> ModelResponse:
        self.instructions = system_instructions
        self.schema = tools[0].params_json_schema
        self.seen = [item["output"] for item in input if item.get("type") == "function_call_output"]
        number = len(self.seen)
        if number < len(self.calls):
            call = {"arguments": self.calls[number], "call_id": f"c{number}", "name": "learn"}
            return ModelResponse([ResponseFunctionToolCall(**call, type="function_call")], Usage(), None)
        text = ResponseOutputText(annotations=[], text="done", type="output_text")
        said = {"id": "m", "role": "assistant", "status": "completed", "type": "message"}
        return ModelResponse([ResponseOutputMessage.model_validate({**said, "content": [text]})], Usage(), None)

    def stream_response(self, *others: Any, **more: Any) -> Any:
        raise AssertionError("nobody asked for a stream")


def test_openai_agents_calls_it_in_every_way(tool: LearnTool, memory: Memory, home: Path) -> None:
    ours = learning("agents")(tool)
    assert isinstance(ours, FunctionTool)
    model = Scripted([*map(json.dumps, CALLS), "{", "[]", ""])
    agent = TheirAgent(name="a", model=model, instructions="Be brief.", tools=[ours])
    quiet = RunConfig(tracing_disabled=True)
    done = asyncio.run(Runner.run(agent, "go", run_config=quiet, max_turns=20))
    assert (done.final_output, model.instructions, model.schema) == ("done", "Be brief.", tool.parameters)
    assert len(model.seen) == len(CALLS) + 3
    for told, wanted in zip(model.seen, ANSWERS, strict=False):
        assert told.startswith(wanted)
    assert all("Nothing was stored." in told for told in model.seen[len(CALLS) :]), model.seen
    assert sorted(one.text for one in memory.recent()) == [
        "Check before a release.",
        "Once more.",
        "Read the log first.",
    ]
    assert (home / "agent/managed-skills/release-check/SKILL.md").is_file()
