#!/usr/bin/env python3
"""Three agents work on one git repository, and no edit is lost.

    python3 examples/parallel_coding.py [--base-url URL] [--repository DIR]

A lead opens one task for each feature. The agents take what is free: a claim says who works on which feature, so
that nothing is done twice, and a lock says who may change the file that all of them have to change. Each commits its
own work. Without --repository the work happens in a new folder, which is removed at the end.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from hubclient import HttpTransport, HubClient, HubError

CHANNEL = "parallel-coding"
FEATURES = ("parser", "printer", "cache", "search", "import", "export")
AGENTS = ("coder-1", "coder-2", "coder-3")


def git(repository: Path, *args: str) -> str:
    """Run git in the repository, as a user of its own, and return what it prints."""
    settings = ["-c", "user.name=team", "-c", "user.email=team@example.org", "-c", "commit.gpgsign=false"]
    command = ["git", "-C", str(repository), *settings, *args]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def seconds_left(lease: dict[str, Any]) -> float:
    """How long a lease lasts still, at least a moment and at most half a minute."""
    end = datetime.fromisoformat(lease["expires_at"].replace("Z", "+00:00"))
    return min(max((end - datetime.now(timezone.utc)).total_seconds(), 0.1), 30.0)


@contextmanager
def locked(me: HubClient, path: str) -> Iterator[None]:
    """Hold the lock on a path, after having waited for it if need be.

    lock answers the row of whoever holds it: it is ours if the name in it is. If
    not, poll until somebody says that he has let go, but no longer than the lease
    lasts: a holder that died says nothing, and its lease ends by itself.
    """
    while (row := me.lock(path, ttl_sec=60))["agent_id"] != me.agent_id:
        me.poll(timeout=seconds_left(row), channel=CHANNEL)
    try:
        yield
    finally:
        me.unlock(path)
        me.post(CHANNEL, f"{path} is free", kind="release")


def implement(me: HubClient, repository: Path, feature: str) -> None:
    """Write the feature, a file of its own, and a line in the file of all."""
    (repository / f"{feature}.txt").write_text(f"The {feature}, by {me.agent_id}.\n")
    changes = repository / "CHANGES.md"
    with locked(me, str(changes)):
        # Between reading and writing nobody else may write, or his line were lost;
        # git itself has one index, so the commit belongs here too.
        changes.write_text(changes.read_text() + f"- {feature} ({me.agent_id})\n")
        git(repository, "add", f"{feature}.txt", "CHANGES.md")
        author = f"{me.agent_id} <{me.agent_id}@example.org>"
        git(repository, "commit", "--quiet", f"--author={author}", f"--message=Add the {feature}")


def work(url: str, agent: str, repository: Path, thread: str) -> int:
    """Take and finish what is free until nothing is; return how much it was."""
    done = 0
    with HubClient.quickstart(agent, url) as me:
        for task in me.get_thread(thread)["tasks"]:
            if task["parent_task_id"] is None:
                continue  # the lead's; it is done when all below it are
            # One of all agents that claim the same name gets it. The others read its
            # name in the answer and go on to the next task.
            key = f"{thread}/{task['title']}"
            row = me.claim(key, thread_id=thread, task_message_id=task["task_id"], ttl_sec=120)
            if row["owner_agent_id"] != agent:
                continue
            # It may have been finished between our look at the thread and the claim.
            if status(me, thread, task["task_id"]) != "done":
                implement(me, repository, task["title"])
                me.complete_task(task["task_id"])
                print(f"{agent} has done: {task['title']}", flush=True)
                done += 1
            me.release(key)
    return done


def status(me: HubClient, thread: str, task_id: int) -> str:
    """Ask how a task of the thread stands."""
    rows = me.get_thread(thread)["tasks"]
    return str(next(t["status"] for t in rows if t["task_id"] == task_id))


def run(url: str, repository: Path) -> None:
    """Open the tasks, let the agents work, and look at what they have done."""
    thread = f"features-{uuid.uuid4().hex[:8]}"  # a run of its own, however often it is run
    with HubClient.quickstart("lead", url) as lead:
        git(repository, "init", "--quiet")
        (repository / "CHANGES.md").write_text("# Changes\n\n")
        git(repository, "add", "CHANGES.md")
        git(repository, "commit", "--quiet", "--message=Begin")

        lead.create_channel(CHANNEL)
        goal = lead.post(CHANNEL, "Add the features", kind="task", thread_id=thread)["id"]
        for feature in FEATURES:
            lead.post(CHANNEL, feature, kind="task", thread_id=thread, parent_task_id=goal)
        print(f"lead has opened {len(FEATURES)} tasks in thread {thread}")

        with ThreadPoolExecutor(len(AGENTS)) as threads:
            results = [threads.submit(work, url, agent, repository, thread) for agent in AGENTS]
        for agent, result in zip(AGENTS, results):
            print(f"{agent} did {result.result()} of {len(FEATURES)}")

        # With the last task below it the hub has completed the lead's own.
        print(f"the lead's task is {status(lead, thread, goal)}; the commits:")
    print(git(repository, "log", "--reverse", "--format=  %an: %s"), end="")


def main() -> None:
    """Read the options and run."""
    parser = argparse.ArgumentParser(description="Three agents work on one git repository.")
    parser.add_argument("--base-url", default=HttpTransport().base_url, help="the hub")
    parser.add_argument("--repository", type=Path, help="new folder to work in and to keep")
    options = parser.parse_args()
    if options.repository:
        if options.repository.exists():
            sys.exit(f"parallel_coding: {options.repository} exists already; name a new folder")
        options.repository.mkdir(parents=True)
        run(options.base_url, options.repository.resolve())
        return
    with tempfile.TemporaryDirectory(prefix="parallel-coding-") as folder:
        run(options.base_url, Path(folder))


if __name__ == "__main__":
    try:
        main()
    except HubError as err:  # its text says what is wrong and what to do about it
        sys.exit(f"parallel_coding: {err}")
