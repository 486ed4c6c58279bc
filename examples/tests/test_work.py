"""Examples in which agents share work: the repository and the hub afterwards."""

from __future__ import annotations

import subprocess
from collections import Counter
from typing import TYPE_CHECKING

from conftest import Hub, Runner, printed

if TYPE_CHECKING:
    from pathlib import Path

FEATURES = {"parser", "printer", "cache", "search", "import", "export"}
AGENTS = {"coder-1", "coder-2", "coder-3"}


def git(repository: Path, *args: str) -> list[str]:
    done = subprocess.run(["git", "-C", str(repository), *args], check=True, capture_output=True, text=True)
    return done.stdout.splitlines()


def test_parallel_coding(hub: Hub, run: Runner, tmp_path: Path) -> None:
    repository = tmp_path / "repository"
    lines = printed(run("parallel_coding.py", "--base-url", hub.url, "--repository", str(repository)))

    # No edit is lost, nothing was done twice: a line, a file and a commit each.
    changes = (repository / "CHANGES.md").read_text().splitlines()[2:]
    done = {}
    for line in changes:
        feature, agent = line.removeprefix("- ").removesuffix(")").split(" (")
        done[feature] = agent
        assert (repository / f"{feature}.txt").read_text() == f"The {feature}, by {agent}.\n"
    assert len(changes) == len(FEATURES)
    assert set(done) == FEATURES
    assert set(done.values()) <= AGENTS
    assert git(repository, "status", "--porcelain") == []

    # Each committed its own work and nobody else's: one line and one file a commit.
    commits = git(repository, "log", "--reverse", "--format=%an %s")
    assert commits == ["team Begin"] + [f"{agent} Add the {feature}" for feature, agent in done.items()]
    for commit in git(repository, "rev-list", "HEAD")[:-1]:
        assert len(git(repository, "show", "--numstat", "--format=", commit)) == 2

    assert "the lead's task is done; the commits:" in lines
    for agent, n in Counter(done.values()).items():
        assert f"{agent} did {n} of {len(FEATURES)}" in lines
    tasks = hub.get("/v1/tasks")
    assert len(tasks) == 1 + len(FEATURES)
    assert {t["status"] for t in tasks} == {"done"}
    assert [t["title"] for t in tasks if t["parent_task_id"] is None] == ["Add the features"]

    # The claims were granted one after the other, and none is held still.
    claims = hub.get("/v1/claims")
    assert {c["task_message_id"] for c in claims} == {t["task_id"] for t in tasks if t["parent_task_id"]}
    assert all(c["released_at"] for c in claims)


def test_parallel_coding_refuses_a_folder_that_is_in_use(hub: Hub, run: Runner, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    done = run("parallel_coding.py", "--base-url", hub.url, "--repository", str(tmp_path / "mine"))
    assert (done.returncode, done.stdout) == (1, "")
    assert "exists already" in done.stderr
    assert "Traceback" not in done.stderr
    assert list((tmp_path / "mine").iterdir()) == []


def test_handover(hub: Hub, run: Runner) -> None:
    lines = printed(run("handover.py", "--base-url", hub.url))
    threads = hub.get("/v1/threads?agent_id=observer")
    assert len(threads) == 1
    thread = hub.get(f"/v1/threads/{threads[0]['thread_id']}?agent_id=observer")
    written = [(m["from_agent"], m["metadata"]["chapter"]) for m in thread["messages"] if m["kind"] == "artifact"]
    assert written == [
        ("author-1", "Question"),
        ("author-1", "Method"),
        ("author-2", "Data"),
        ("author-2", "Result"),
        ("author-3", "Doubts"),
        ("author-3", "Summary"),
    ]
    assert [(t["status"], t["title"]) for t in thread["tasks"]] == [("done", "Write the report")]
    assert thread["claims"] == []

    # The third had to wait for the lease of the second, and heard of its end.
    notices = [m for m in thread["messages"] if m["kind"] == "notice"]
    assert [m["metadata"]["recovery"]["agent_id"] for m in notices] == ["author-2"]
    assert f"author-3 hears: {notices[0]['body']}" in lines
    assert any(line.startswith("author-3 waits: author-2 holds the claim until ") for line in lines)
    assert not any(line.startswith(("author-1 waits", "author-2 waits")) for line in lines)
    assert "author-2 reads in the thread: Question, Method are written" in lines
    assert lines[-1] == "the thread is completed: Question, Method, Data, Result, Doubts, Summary"
