#!/usr/bin/env python3
"""Two agents say hello.

    python3 examples/hello.py [--base-url URL]

The smallest conversation: alice writes to a channel, where everybody can read it;
bob answers with a direct message, which only the two of them can see.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

from hubclient import HubClient, HubError

CHANNEL = "hello"


def wait_for(me: HubClient, sender: str, seconds: float = 30.0) -> dict[str, Any]:
    """Return the next message of that sender.

    poll parks the call in the hub, which answers it the moment a message comes:
    nothing here sleeps, or asks again and again.
    """
    for message in me.poll(timeout=seconds, channel=CHANNEL):
        if message["from_agent"] == sender:
            return message
    raise SystemExit(f"{me.agent_id} heard nothing of {sender} within {seconds:g} seconds")


def main() -> None:
    """Read the options and run."""
    parser = argparse.ArgumentParser(description="Two agents say hello.")
    parser.add_argument("--base-url", default="http://127.0.0.1:6969", help="address of the hub")
    url = parser.parse_args().base_url

    # quickstart connects, registers the agent and skips what was said before. The
    # end of the with block says good-bye, also when something goes wrong in it.
    with HubClient.quickstart("alice", url) as alice, HubClient.quickstart("bob", url) as bob:
        # Making a channel that is there already is no error: this program may be
        # run again, and any agent may come first.
        alice.create_channel(CHANNEL)
        said = alice.post(CHANNEL, "Hello, who is there?")
        print(f"alice says in #{CHANNEL}: {said['body']}")

        heard = wait_for(bob, "alice")
        print(f"bob heard message {heard['id']} and answers alice alone")
        bob.dm(heard["from_agent"], "Hello alice, bob is.", reply_to=heard["id"])

        # A direct message reaches its recipient whatever channel it listens to.
        answer = wait_for(alice, "bob")
        print(f"alice heard from {answer['from_agent']}: {answer['body']}")


if __name__ == "__main__":
    try:
        main()
    except HubError as err:  # its text says what is wrong and what to do about it
        sys.exit(f"hello: {err}")
