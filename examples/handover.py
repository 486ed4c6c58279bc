#!/usr/bin/env python3
"""Work is handed from one agent to the next, in peace and after a crash.

    python3 examples/handover.py [--base-url URL]

A report has six chapters. The first agent writes two and hands over. The second
writes two more and dies without a word: its claim ends by itself. The third reads
in the thread what is there, and goes on after it. What an agent knows it writes into
the thread; nothing that matters is in its head alone.
"""

from __future__ import annotations

import argparse
import sys
import uuid
from typing import Any

from hubclient import HttpTransport, HubClient, HubError

CHANNEL = "handover"
CHAPTERS = ("Question", "Method", "Data", "Result", "Doubts", "Summary")
LEASE = 5  # seconds; minutes in real work, renewed with refresh_claim well before they are over


def chapters(thread: dict[str, Any]) -> list[str]:
    """The chapters that a thread holds, in the order in which they were written."""
    return [m["metadata"]["chapter"] for m in thread["messages"] if m["kind"] == "artifact"]


def take(me: HubClient, key: str, thread_id: str, task_id: int) -> dict[str, Any]:
    """Get the claim, after having waited for it if need be.

    Nobody needs to tell the next agent when the holder dies: the lease runs out. If
    the holder's session has ended by then, as here, the hub says so in the thread,
    which ends the poll; if not, the poll ends a little later than the lease.
    """
    while True:
        row = me.claim(key, thread_id=thread_id, task_message_id=task_id, ttl_sec=LEASE)
        if row["owner_agent_id"] == me.agent_id:
            return row
        print(f"{me.agent_id} waits: {row['owner_agent_id']} holds the claim until {row['expires_at']}")
        for message in me.poll(timeout=LEASE + 2.0, thread_id=thread_id):
            if "recovery" in message["metadata"]:
                print(f"{me.agent_id} hears: {message['body']}")


def write(me: HubClient, thread_id: str, key: str, most: int) -> bool:
    """Write at most so many of the chapters that are missing; report whether all are there."""
    there = chapters(me.get_thread(thread_id))
    if there:
        print(f"{me.agent_id} reads in the thread: {', '.join(there)} are written")
    for chapter in [c for c in CHAPTERS if c not in there][:most]:
        # Each step goes into the thread as soon as it is done, so that no more than
        # one step is ever lost.
        me.post(CHANNEL, f"{chapter}: …", kind="artifact", thread_id=thread_id, metadata={"chapter": chapter})
        me.refresh_claim(key, ttl_sec=LEASE)
        print(f"{me.agent_id} writes: {chapter}")
    return len(chapters(me.get_thread(thread_id))) == len(CHAPTERS)


def main() -> None:
    """Read the options and run."""
    parser = argparse.ArgumentParser(description="Work is handed from one agent to the next.")
    url = HttpTransport().base_url
    parser.add_argument("--base-url", default=url, help="address of the hub")
    url = parser.parse_args().base_url
    thread_id = f"report-{uuid.uuid4().hex[:8]}"  # a run of its own, however often it is run
    key = f"{thread_id}/pen"

    with HubClient.quickstart("author-1", url) as first:
        first.create_channel(CHANNEL)
        task_id = first.post(CHANNEL, "Write the report", kind="task", thread_id=thread_id)["id"]
        fence = take(first, key, thread_id, task_id)["fence"]
        write(first, thread_id, key, most=2)
        # In peace: release first, then say so. The agent that reads it finds the key free.
        first.release(key)
        first.post(CHANNEL, "The rest is for whoever comes next.", kind="handoff", thread_id=thread_id)
        print("author-1 hands over")

    with HubClient.quickstart("author-2", url) as second:
        # A higher fence is a later grant. What the lease protects can refuse the
        # lower one, should its holder wake up and think that it is still in charge.
        later = take(second, key, thread_id, task_id)["fence"]
        print(f"author-2 holds the claim, fence {later - fence} after that of author-1")
        write(second, thread_id, key, most=2)
        print("author-2 dies with the claim in its hands")
    # The session has ended, and the claim has not: nobody takes work from an agent
    # that is only out of reach for a moment.

    with HubClient.quickstart("author-3", url) as third:
        take(third, key, thread_id, task_id)
        if write(third, thread_id, key, most=len(CHAPTERS)):
            third.complete_task(task_id)
        third.release(key)
        thread = third.get_thread(thread_id)
        print(f"the thread is {thread['thread']['status']}: {', '.join(chapters(thread))}")

    # An agent that was taken for dead may come back. A poll says that it has read what was
    # written to it: that its claim has ended, and that it is no longer in charge.
    with HubClient.quickstart("author-2", url) as second:
        second.poll(timeout=0.0)


if __name__ == "__main__":
    try:
        main()
    except HubError as err:  # its text says what is wrong and what to do about it
        sys.exit(f"handover: {err}")
