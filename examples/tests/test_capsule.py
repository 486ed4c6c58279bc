"""The reader of project capsules: it needs no hub, and believes no capsule."""

from __future__ import annotations

import json
import zipfile
from typing import TYPE_CHECKING

import pytest

from conftest import EXAMPLES, ROOT, Runner, printed

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = "read_capsule.py"
SAMPLE = ROOT / "capsule" / "testdata" / "v1.hubpack"


def test_prints_the_project(run: Runner) -> None:
    lines = printed(run(PROGRAM, str(SAMPLE)))
    assert lines[0] == "Web shop (web-shop), complete, full_history, 2026-09-21T14:13:20.000Z"
    assert lines[1].startswith("2 rooms, 3 agents, 2 decisions, 3 artifacts, 5 memories, 1 runs, 3 tasks, 7 messages")
    assert "#r1 API: the <wire> & more" in lines
    assert "  decided #d1 Use JSON" in lines
    assert "  keeps #a3 plan.md, version 3" in lines
    assert "  has the task #m5 Test it" in lines
    assert "  #m1 2026-09-21T14:13:30.000Z ann: Hello <all> & everyone     ☕" in lines
    assert "  #m6 2026-09-21T14:13:33.000Z ann to cy.7: between us" in lines


def changed(target: Path, name: str, new: bytes | None) -> str:
    """Writes the sample with another entry of this name, or without it."""
    with zipfile.ZipFile(SAMPLE) as old, zipfile.ZipFile(target, "w") as out:
        for entry in old.namelist():
            data = old.read(entry) if entry != name else new
            if data is not None:
                out.writestr(entry, data)
        if name not in old.namelist() and new is not None:
            out.writestr(name, new)
    return str(target)


def manifest(**members: object) -> bytes:
    with zipfile.ZipFile(SAMPLE) as old:
        return json.dumps({**json.loads(old.read("manifest.json")), **members}).encode()


@pytest.mark.parametrize(
    ("name", "new", "says"),
    [
        ("rooms.ndjson", b"{}\n", "rooms.ndjson is not what"),
        ("README.md", None, "different entries"),
        ("evil.sh", b"rm", "different entries"),
        ("mimetype", b"application/zip", "no project capsule"),
        ("mimetype", None, "no project capsule"),
        ("manifest.json", b"{", "Expecting"),
        ("manifest.json", b"[]", "cannot be read"),
        ("manifest.json", manifest(schema={"major": 2, "minor": 0}), "a later version"),
        ("manifest.json", manifest(content_digest="sha256:0"), "the digest"),
        ("manifest.json", manifest(entries=[]), "different entries"),
    ],
)
def test_refuses_what_is_not_whole(name: str, new: bytes | None, says: str, run: Runner, tmp_path: Path) -> None:
    done = run(PROGRAM, changed(tmp_path / "other.hubpack", name, new))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("read_capsule: ")
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_refuses_what_is_no_archive(run: Runner, tmp_path: Path) -> None:
    for path in (tmp_path / "missing.hubpack", EXAMPLES / PROGRAM):
        done = run(PROGRAM, str(path))
        assert (done.returncode, done.stdout) == (1, "")
        assert "cannot be read" in done.stderr


def test_is_short_and_imports_no_client() -> None:
    source = (EXAMPLES / PROGRAM).read_text()
    assert len(source.splitlines()) < 100
    assert "hubclient" not in source
