#!/usr/bin/env python3
"""Two agents say hello.

    python3 examples/hello.py [--base-url URL]

The smallest conversation: alice writes to a channel, where everybody can read it;
bob answers with a direct message, which only the two of them can see.
"""

from __future__ import annotations

import argparse
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from hubclient import HttpTransport, HubClient, HubError

CHANNEL = "hello"


def wait_for(me: HubClient, sender: str, seconds: float = 30.0) -> dict[str, Any]:
    """Return the next message of that sender.

    poll parks the call in the hub, which answers it the moment a message comes:
    nothing here sleeps. What comes may be somebody else's, so look for what is meant
    and poll again until the time is over.
    """
    deadline = time.monotonic() + seconds
    while (left := deadline - time.monotonic()) > 0:
        for message in me.poll(timeout=left, channel=CHANNEL):
            if message["from_agent"] == sender:
                return message
    raise SystemExit(f"{me.agent_id} heard nothing of {sender} within {seconds:g} seconds")


def answer(me: HubClient) -> None:
    """Answer the first word of alice; the agent's part, in a thread of its own."""
    heard = wait_for(me, "alice")
    print(f"bob heard message {heard['id']} and answers alice alone")
    me.dm(heard["from_agent"], "Hello alice, bob is.", reply_to=heard["id"])


def main() -> None:
    """Read the options and run."""
    parser = argparse.ArgumentParser(description="Two agents say hello.")
    url = HttpTransport().base_url
    parser.add_argument("--base-url", default=url, help="address of the hub")
    url = parser.parse_args().base_url

    # quickstart connects, registers the agent and skips what was said before. The
    # end of the with block says good-bye, also when something goes wrong in it.
    with (
        HubClient.quickstart("alice", url) as alice,
        HubClient.quickstart("bob", url) as bob,
        ThreadPoolExecutor() as threads,
    ):
        # Making a channel that is there already is no error: this program may be
        # run again, and any agent may come first.
        alice.create_channel(CHANNEL)
        answered = threads.submit(answer, bob)

        text = "Hello, who is there?"
        print(f"alice says in #{CHANNEL}: {text}")
        alice.post(CHANNEL, text)

        # A direct message reaches its recipient whatever channel it listens to.
        heard = wait_for(alice, "bob")
        print(f"alice heard from {heard['from_agent']}: {heard['body']}")
        answered.result()  # raises what went wrong in the thread
        # A poll says what was read: everything before it. The last one finds nothing.
        while alice.poll(timeout=0.0):
            pass


if __name__ == "__main__":
    try:
        main()
    except HubError as err:  # its text says what is wrong and what to do about it
        sys.exit(f"hello: {err}")
