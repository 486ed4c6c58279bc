#!/usr/bin/env python3
"""An agent without a network takes part, through a folder.

    python3 examples/sandboxed_agent.py [--base-url URL]

Run like this it is the host: it starts a forwarder on a new spool folder, starts
itself again in a sandbox, and calls the agent in there. Where the system lends one
(Linux: unshare) the sandbox has no network at all, so that every word of the agent
goes through the folder. A sandbox of your own needs no more than this: mount the
spool into it, and run in there what stands in the function sandboxed.
"""

from __future__ import annotations

import argparse
import shutil
import socket
import subprocess
import sys
import tempfile
from urllib.parse import urlsplit

from hubclient import HttpTransport, HubClient, HubError, create_relay

HOST, AGENT = "host", "sandboxed"


def sandboxed(spool: str, url: str) -> None:
    """Serve one request, with nothing but the folder."""
    # The client is the same as elsewhere; only its constructor differs. It does not
    # register, and it starts neither a forwarder nor a hub: a sandboxed process cannot.
    with HubClient.over_relay(AGENT, spool) as me:
        me.register(capabilities=["upper-case"])
        me.bootstrap()  # from here on poll hands out what is new
        print(f"sandboxed: registered through the folder; the hub's port: {look_at(url)}", flush=True)
        me.dm(HOST, "ready")
        while True:
            # A long wait works through the folder as well; an answer comes at once.
            for message in me.poll(timeout=30.0):
                if message["kind"] == "task_request" and message["from_agent"] == HOST:
                    print(f"sandboxed: was asked: {message['body']}", flush=True)
                    me.dm(HOST, message["body"].upper(), kind="task_result", reply_to=message["id"])
                    while me.poll(timeout=0.0):  # what it has read is not unread when it is gone
                        pass
                    return


def look_at(url: str) -> str:
    """Try what an agent in a sandbox must not be able to do."""
    address = urlsplit(url)
    try:
        socket.create_connection((address.hostname or "", address.port or 80), timeout=2.0).close()
    except OSError as err:
        return err.strerror or "unreachable"
    return "within reach, since this system lends no sandbox"


def sandbox() -> list[str]:
    """The command that runs another one without a network; empty if there is none."""
    command = ["unshare", "--user", "--map-root-user", "--net"]
    if (
        shutil.which("unshare")
        and subprocess.run([*command, "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0
    ):
        return command
    return []


def host(url: str, spool: str) -> None:
    """Start the agent in the sandbox, wait until it is there, and call it."""
    with HubClient.quickstart(HOST, url) as me, create_relay(spool, url):
        agent = subprocess.Popen([*sandbox(), sys.executable, __file__, "--base-url", url, "--inside", spool])
        try:
            while not any(m["from_agent"] == AGENT and m["body"] == "ready" for m in me.poll(timeout=5.0)):
                if agent.poll() is not None:
                    raise SystemExit("the agent ended before it was ready")
            answer = me.call(AGENT, "can you hear me?")
            # A message that came through a spool says so. Any process that may write to
            # the folder may speak for its agent: that is what "relay" means.
            print(f"host: {answer['from_agent']} answers, by {answer['assurance']}: {answer['body']}")
            agent.wait(timeout=30.0)
            while me.poll(timeout=0.0):  # a poll says that everything before it was read
                pass
        finally:
            agent.terminate()
            agent.wait()


def main() -> None:
    """Read the options and run."""
    parser = argparse.ArgumentParser(description="An agent without a network takes part, through a folder.")
    url = HttpTransport().base_url
    parser.add_argument("--base-url", default=url, help="address of the hub")
    parser.add_argument("--inside", metavar="SPOOL", help="be the agent in the sandbox, with this spool folder")
    options = parser.parse_args()
    if options.inside:
        sandboxed(options.inside, options.base_url)
        return
    with tempfile.TemporaryDirectory(prefix="sandboxed-agent-") as folder:
        host(options.base_url, folder)


if __name__ == "__main__":
    try:
        main()
    except HubError as err:  # its text says what is wrong and what to do about it
        sys.exit(f"sandboxed_agent: {err}")
