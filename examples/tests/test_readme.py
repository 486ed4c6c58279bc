"""Runs the Python programs of two pages, unchanged but for addresses."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING

from conftest import ROOT, Hub
from hubclient import HubClient, create_relay

if TYPE_CHECKING:
    from pathlib import Path


def snippet(page: str) -> str:
    found: list[str] = re.findall(r"^```python\n(.*?)^```$", (ROOT / page).read_text(), re.MULTILINE | re.DOTALL)
    assert len(found) == 1, f"{page} has {len(found)} programs"
    return found[0]


def replaced(text: str, *pairs: tuple[str, str]) -> str:
    for old, new in pairs:
        assert text.count(old) == 1, f"{old} is not on the page once"
        text = text.replace(old, new)
    return text


def execute(program: str, tmp_path: Path) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def test_quick_start(hub: Hub, tmp_path: Path) -> None:
    quick_start = snippet("python/README.md")
    port = hub.url.rsplit(":", 1)[1]
    with HubClient.quickstart("dev-b", hub.url) as other:
        said = "the parser is free"
        program = replaced(
            quick_start,
            ("ensure_hub()", f"ensure_hub(port={port}, storage={str(hub.store)!r})"),
            # Another agent posts before this one polls: the poll returns that message.
            (
                "    for message in",
                f'    HubClient("dev-b", hub["base_url"]).post("general", "{said}")\n    for message in',
            ),
        )
        lines = execute(program, tmp_path)
        assert (lines[0], lines[2:]) == ("dev-a has the parser", [f"dev-b {said}"])
        assert lines[1].startswith("waiting; ")
        assert [m["body"] for m in other.poll(timeout=5.0)] == ["dev-a is here"]
    assert [c["claim_key"] for c in hub.get("/v1/claims") if c["released_at"]] == ["parser"]
    assert hub.get("/v1/agents") == []


def test_sandboxed_agents(hub: Hub, tmp_path: Path) -> None:
    program = replaced(snippet("docs/relay.md"), ("/spool", str(hub.spool)))
    with create_relay(hub.spool, hub.url):
        assert execute(program, tmp_path) == []
    assert [a["agent_id"] for a in hub.get("/v1/agents")] == ["dev-a"]
