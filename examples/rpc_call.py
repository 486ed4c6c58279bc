#!/usr/bin/env python3
"""Call a specialist and wait for its answer.

    python3 examples/rpc_call.py [--base-url URL]

One agent knows how to count words. It answers every task_request that reaches it;
another one calls it, like a function that lives in another process. The second
call shows what to do when the answer takes longer than the caller wants to wait:
the request is in the hub, so the caller waits for it and does not ask again.
"""

from __future__ import annotations

import argparse
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from hubclient import HttpTransport, HubClient, HubError

SPECIALIST, CALLER = "word-counter", "editor"


def requests(me: HubClient) -> Iterator[dict[str, Any]]:
    """Yield the task requests to this agent, as they come, until one says stop."""
    while True:
        # One answer of poll may hold several messages, and each is handed out
        # once: go through all of them. Channel "direct" carries no public talk here,
        # so that what comes is what was sent to this agent.
        for message in me.poll(timeout=30.0, channel="direct"):
            if message["kind"] == "task_request":
                yield message
            elif message["from_agent"] == CALLER and message["body"] == "stop":
                return


def serve(me: HubClient, may_go_on: threading.Event) -> int:
    """Answer every request. The event stands for work that takes long."""
    answered = 0
    for request in requests(me):
        text = str(request["body"])
        if text.startswith("slow:"):
            may_go_on.wait()
        # The answer names its request in reply_to: so the caller finds it, and the
        # hub marks the task that the request opened as done.
        me.dm(request["from_agent"], str(len(text.split())), kind="task_result", reply_to=request["id"])
        answered += 1
    return answered


def result_of(me: HubClient, request_id: int, seconds: float = 300.0) -> dict[str, Any]:
    """Wait for the result of a request that was posted earlier, whatever else comes."""
    deadline = time.monotonic() + seconds
    while (left := deadline - time.monotonic()) > 0:
        for message in me.poll(timeout=left, channel="direct"):
            if message["kind"] == "task_result" and message["reply_to"] == request_id:
                return message
    raise SystemExit(f"no result of request {request_id}; it is still in the hub")


def main() -> None:
    """Read the options and run."""
    parser = argparse.ArgumentParser(description="Call a specialist and wait for its answer.")
    url = HttpTransport().base_url
    parser.add_argument("--base-url", default=url, help="address of the hub")
    url = parser.parse_args().base_url
    may_go_on = threading.Event()

    with (
        HubClient.quickstart(SPECIALIST, url, capabilities=["count-words"]) as specialist,
        HubClient.quickstart(CALLER, url) as caller,
        ThreadPoolExecutor() as threads,
    ):
        served = threads.submit(serve, specialist, may_go_on)
        try:
            answer = caller.call(SPECIALIST, "how many words are these", timeout=30.0)
            print(f"{SPECIALIST} answers: {answer['body']} words")

            try:
                caller.call(SPECIALIST, "slow: how many words are these", timeout=1.0)
                print("the slow call was quick today")
            except HubError as err:
                if err.code != "call_timeout":
                    raise
                # The request was posted and will be answered. Sending it again would
                # have the work done twice; its id is all that is needed.
                request_id = int(err.detail["request_id"])
                print(f"no answer within a second; waiting for request {request_id}, not sending it again")
                may_go_on.set()
                print(f"{SPECIALIST} answers: {result_of(caller, request_id)['body']} words")
        finally:
            may_go_on.set()
            caller.dm(SPECIALIST, "stop")
        print(f"{SPECIALIST} answered {served.result()} requests")
        # A poll says what was read: everything before it. The last ones find nothing.
        for agent in (specialist, caller):
            while agent.poll(timeout=0.0):
                pass


if __name__ == "__main__":
    try:
        main()
    except HubError as err:  # its text says what is wrong and what to do about it
        sys.exit(f"rpc_call: {err}")
