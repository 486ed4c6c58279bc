"""What holds for every example: it can be run again, and fails in plain words."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

import pytest

import hubclient
from conftest import EXAMPLES, Hub, Runner, free_port, printed

if TYPE_CHECKING:
    from pathlib import Path

WITHOUT_HUB = "read_capsule.py"  # test_capsule.py runs it
PROGRAMS = sorted(p.name for p in EXAMPLES.glob("*.py") if p.name != WITHOUT_HUB)
every_example = pytest.mark.parametrize("program", PROGRAMS)


def test_the_examples_are_found() -> None:
    assert PROGRAMS == ["handover.py", "hello.py", "parallel_coding.py", "rpc_call.py", "sandboxed_agent.py"]
    assert (EXAMPLES / WITHOUT_HUB).is_file()


@every_example
def test_runs_twice_and_leaves_nothing_running(program: str, hub: Hub, run: Runner, tmp_path: Path) -> None:
    first = printed(run(program, "--base-url", hub.url))
    head = hub.head()
    again = printed(run(program, "--base-url", hub.url))
    assert len(first) > 2
    assert sorted(shape(line) for line in again if comparable(line)) == sorted(
        shape(line) for line in first if comparable(line)
    )
    assert hub.head() > head
    assert [a["agent_id"] for a in hub.get("/v1/agents")] == []
    assert hub.get("/v1/claims?active_only=1") == []
    assert hub.get("/v1/locks?active_only=1") == []
    assert hub.get("/v1/tasks?status=active") == []
    assert hub.get("/v1/messages?channel=general") == []  # where others talk
    assert [p.name for p in (tmp_path / "home").iterdir()] == []
    for agent in AGENTS:  # last: it asks in the name of the agents
        attention = hub.get(f"/v1/attention?agent_id={agent}")
        assert [row["id"] for row in attention["directed"]] == [], agent
        assert attention["tasks"] == [], agent


AGENTS = ["alice", "bob", "word-counter", "editor", "host", "sandboxed", "lead", "coder-1", "coder-2", "coder-3"]
AGENTS += ["author-1", "author-2", "author-3"]


def comparable(line: str) -> bool:
    """Who gets which piece of work is decided anew in every run."""
    return "coder-" not in line


def shape(line: str) -> str:
    """A line without what is of one run alone: numbers, times, ids of threads."""
    return re.sub(r"(features|report)-[0-9a-f]{8}|[0-9T:.Z-]+", "…", line)


@every_example
def test_says_what_to_do_when_no_hub_runs(program: str, run: Runner) -> None:
    done = run(program, "--base-url", f"http://127.0.0.1:{free_port()}")
    assert done.returncode == 1
    assert done.stderr.startswith(program.removesuffix(".py") + ": ")
    assert "hubcli ensure" in done.stderr
    assert "Traceback" not in done.stderr


@every_example
def test_refuses_options_that_it_does_not_have(program: str, run: Runner) -> None:
    done = run(program, "--sure")
    assert (done.returncode, done.stdout) == (2, "")
    assert "unrecognized arguments: --sure" in done.stderr
    assert "--base-url" in printed(run(program, "--help"))[0]


@every_example
def test_uses_public_names_alone_and_never_sleeps(program: str) -> None:
    source = (EXAMPLES / program).read_text()
    assert len(source.splitlines()) <= 150
    public = set(hubclient.__all__)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("hubclient"):
            assert node.module == "hubclient"
            assert {name.name for name in node.names} <= public
        if isinstance(node, ast.Attribute):
            assert not node.attr.startswith("_"), node.attr
            assert node.attr != "sleep", "an example waits for the hub, not for time"


@pytest.mark.parametrize("program", [*PROGRAMS, WITHOUT_HUB])
def test_is_in_the_table(program: str) -> None:
    readme = (EXAMPLES / "README.md").read_text()
    assert f"| [{program}]({program}) |" in readme
    title = ast.get_docstring(ast.parse((EXAMPLES / program).read_text()))
    assert title is not None
    assert f"python3 examples/{program} " in title
