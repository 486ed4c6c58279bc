"""The example whose agent has no network: only the relay can carry its words."""

from __future__ import annotations

import re
import subprocess

import pytest

from conftest import Hub, Runner, printed


def test_sandboxed_agent(hub: Hub, run: Runner) -> None:
    lines = printed(run("sandboxed_agent.py", "--base-url", hub.url))
    assert lines[1:] == [
        "sandboxed: was asked: can you hear me?",
        "host: sandboxed answers, by relay: CAN YOU HEAR ME?",
    ]
    heard = hub.get("/v1/inbox/host")
    assert [(m["from_agent"], m["kind"], m["body"], m["assurance"]) for m in heard] == [
        ("sandboxed", "chat", "ready", "relay"),
        ("sandboxed", "task_result", "CAN YOU HEAR ME?", "relay"),
    ]
    asked = hub.get("/v1/inbox/sandboxed")
    assert [(m["body"], m["assurance"]) for m in asked] == [("can you hear me?", "asserted")]
    assert hub.get(f"/v1/tasks/{asked[0]['id']}?agent_id=host")["status"] == "done"


def test_sandboxed_agent_has_no_network(hub: Hub, run: Runner) -> None:
    command = ["unshare", "--user", "--map-root-user", "--net", "true"]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as err:
        pytest.skip(f"needs a system that lends a sandbox without a network: {err}")
    first = printed(run("sandboxed_agent.py", "--base-url", hub.url))[0]
    assert re.fullmatch(
        r"sandboxed: registered through the folder; the hub's port: (Network is unreachable|Connection refused)", first
    )
