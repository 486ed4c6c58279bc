"""A real hub for the examples, and a way to run them as a user would."""

from __future__ import annotations

import importlib.util
import json
import os
import random
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).resolve().parent.parent
ROOT = EXAMPLES.parent

# The checks install the package. Without that it is taken from its folder.
if importlib.util.find_spec("hubclient") is None:
    source = str(ROOT / "python" / "src")
    sys.path.insert(0, source)
    os.environ["PYTHONPATH"] = source + os.pathsep + os.environ.get("PYTHONPATH", "")


def pytest_configure() -> None:
    """Makes a run that is asked to end stop its hubs, as one does that Ctrl-C ends."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)


@pytest.fixture(scope="session")
def hubcli(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The executable: the one that HUBCLI names, or one built from the source."""
    exe = os.environ.get("HUBCLI")
    if not exe:
        exe = str(tmp_path_factory.mktemp("bin") / "hubcli")
        subprocess.run(["go", "build", "-o", exe, "./cmd/hubcli"], cwd=ROOT, check=True)
        os.environ["HUBCLI"] = exe
    return exe


def free_port() -> int:
    """A port on which nothing listens, and which nobody gets by chance.

    It lies below those that the system gives to who names none, and a socket for
    datagrams keeps its number from other tests until this run has ended.
    """
    while True:
        port = random.randrange(20_000, 32_000)  # noqa: S311 - no secret
        hold = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            hold.bind(("127.0.0.1", port))
            with socket.socket() as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind(("127.0.0.1", port))
        except OSError:
            hold.close()
            continue
        hold.detach()  # it stays open
        return port


class Hub:
    """A running hub, looked at from outside: over HTTP, without the client."""

    def __init__(self, port: int, store: Path, spool: Path) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.store = store
        self.spool = spool

    def get(self, path: str) -> Any:
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(self.url + path, timeout=10) as answer:
            return json.load(answer)["result"]

    def head(self) -> int:
        """The id of the latest message."""
        return int(self.get("/v1/bootstrap?agent_id=observer")["latest_visible_id"])


@pytest.fixture
def hub(hubcli: str, tmp_path: Path) -> Iterator[Hub]:
    """A hub of the test's own, on a free port, with a data root of its own."""
    port, store, spool = free_port(), tmp_path / "store", tmp_path / "spool"
    env = {**os.environ, "HUB_DATA_ROOT": str(tmp_path / "data")}
    address = ["--port", str(port), "--storage", str(store)]
    try:
        subprocess.run([hubcli, "ensure", *address], env=env, cwd=tmp_path, check=True, timeout=60)
        yield Hub(port, store, spool)
    finally:
        subprocess.run([hubcli, "stop", *address], env=env, cwd=tmp_path, check=True, timeout=60)


Runner = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def run(hubcli: str, tmp_path: Path) -> Runner:
    """Runs an example as a user would, in a folder that is not the repository."""
    home = tmp_path / "home"
    home.mkdir()
    env = {**os.environ, "HUBCLI": hubcli, "HUB_DATA_ROOT": str(tmp_path / "data"), "TMPDIR": str(home)}

    def run_example(program: str, *args: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, str(EXAMPLES / program), *args],
            cwd=home,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=90,
            check=False,
        )

    return run_example


def printed(done: subprocess.CompletedProcess[str]) -> list[str]:
    """The lines of an example that did well; of its stderr only a relay may have had a use."""
    assert done.returncode == 0, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
    assert [line for line in done.stderr.splitlines() if not line.startswith("hubcli: relay ready: ")] == []
    return done.stdout.splitlines()
