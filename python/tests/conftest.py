"""A real hub for the tests, and clients of it."""

import contextlib
import itertools
import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

import pytest

from hubclient import HubClient, HubConfig, create_server
from schema import DOCUMENT

ROOT = Path(__file__).resolve().parents[2]
WAIT_SEC = 40  # for a condition that holds soon


def until(condition, what):
    """Waits for a condition that another process or thread brings about."""
    deadline = time.monotonic() + WAIT_SEC
    while time.monotonic() < deadline:
        found = condition()
        if found:
            return found
        time.sleep(0.005)
    raise AssertionError(f"{what} did not happen within {WAIT_SEC} s")


def free_port(family=socket.AF_INET, host="127.0.0.1"):
    """A port on which nothing listens, and which nobody gets by chance: it lies below
    those that the system gives to who names none, and a socket for datagrams keeps
    its number from other tests until this run has ended."""
    while True:
        port = random.randrange(20_000, 32_000)
        hold = socket.socket(family, socket.SOCK_DGRAM)
        try:
            hold.bind((host, port))
            with socket.socket(family, socket.SOCK_STREAM) as s:
                s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                s.bind((host, port))
        except OSError:
            hold.close()
            continue
        hold.detach()  # it stays open
        return port


@pytest.fixture(scope="session")
def executable():
    """The real hubcli: what HUBCLI names, or else built from the sources."""
    given = os.environ.get("HUBCLI")
    if given:
        path = Path(given).resolve()
        assert os.access(path, os.X_OK), f"HUBCLI names {path}, which cannot be run"
        yield str(path)
        return
    assert shutil.which("go"), "neither HUBCLI is set nor is Go there to build the executable"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "hubcli"
        env = {**os.environ, "CGO_ENABLED": "0"}
        subprocess.run(["go", "build", "-o", path, "./cmd/hubcli"], cwd=ROOT, env=env, check=True, timeout=600)
        yield str(path)


@pytest.fixture(autouse=True)
def nobody_in_the_environment(monkeypatch):
    """Who runs the tests within a harness has these, and no test means them."""
    for name in ("HUB_BASE_URL", "HUB_AGENT"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="session", autouse=True)
def own_data_root(tmp_path_factory):
    """Nothing of the user's is read or written."""
    before = os.environ.get("HUB_DATA_ROOT")
    os.environ["HUB_DATA_ROOT"] = str(tmp_path_factory.mktemp("data-root"))
    yield
    if before is None:
        del os.environ["HUB_DATA_ROOT"]
    else:
        os.environ["HUB_DATA_ROOT"] = before


class Hub:
    """A hub that can be killed and started again at its port."""

    def __init__(self, executable, folder):
        self.port = free_port()
        self.storage = str(folder / "store")
        self.url = f"http://127.0.0.1:{self.port}"
        self._executable = executable
        self._server = None

    def start(self):
        config = HubConfig(port=self.port, storage=self.storage, quiet=True)
        self._server = create_server(config, executable=self._executable)
        self._server.start()

    @contextlib.contextmanager
    def suspended(self):
        """Within it the hub takes connections and answers nothing."""
        os.kill(self._server.pid, signal.SIGSTOP)
        if hasattr(os, "waitid"):  # the signal takes a moment to stop all threads
            os.waitid(os.P_PID, self._server.pid, os.WSTOPPED | os.WNOWAIT)
        try:
            yield
        finally:
            os.kill(self._server.pid, signal.SIGCONT)

    def kill(self):
        os.kill(self._server.pid, signal.SIGKILL)
        self._server.stop()

    def stop(self):
        self._server.stop()

    def parked(self):
        """Counts the calls that wait."""
        return raw_get(self.url + "/v1/app/status")["result"]["counts"]["parked_polls"]


@pytest.fixture(scope="session")
def hub(executable, tmp_path_factory):
    """One hub that all tests share; they keep apart by the names of their agents."""
    hub = Hub(executable, tmp_path_factory.mktemp("hub"))
    hub.start()
    DOCUMENT.update(raw_get(hub.url + "/v1/openapi.json"))
    yield hub
    hub.stop()


@pytest.fixture
def own_hub(executable, tmp_path):
    """A hub of the test's own, which it may kill."""
    hub = Hub(executable, tmp_path)
    hub.start()
    yield hub
    hub.stop()


_numbers = itertools.count(1)


@pytest.fixture
def name():
    """Makes names that no other test uses: name("dev") is "dev-17"."""
    return lambda word: f"{word}-{next(_numbers)}"


@pytest.fixture
def client(hub, name):
    """Makes clients that are closed at the end: client(), client("dev"), client(url=…)."""
    with contextlib.ExitStack() as stack:

        def make(word="agent", *, url=None, **options):
            return stack.enter_context(HubClient(name(word), url or hub.url, **options))

        yield make


@pytest.fixture
def registered(client):
    """Makes clients that are registered and see new messages only."""

    def make(word="agent", **options):
        c = client(word, **options)
        c.register()
        c.bootstrap()
        return c

    return make


@pytest.fixture
def background():
    """Runs functions in threads; what they raise fails the test."""
    running = []

    def start(function, *args):
        box = {}

        def run():
            try:
                box["result"] = function(*args)
            except BaseException as e:  # noqa: BLE001 - joined below
                box["error"] = e

        thread = threading.Thread(target=run, daemon=True)
        thread.start()

        def join():
            thread.join(WAIT_SEC)
            assert not thread.is_alive(), f"{function} did not end"
            if "error" in box:
                raise box["error"]
            return box.get("result")

        running.append(join)
        return join

    yield start
    for join in running:
        join()


def raw_get(url):
    """Reads an answer without the client."""
    import json

    with urllib.request.urlopen(url, timeout=WAIT_SEC) as answer:
        return json.load(answer)


class Server:
    """A TCP server at the edge of a test: `serve` gets each connection in a thread of its own."""

    def __init__(self, serve, family=socket.AF_INET, host="127.0.0.1", port=0):
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._serve = serve
        self._listener = socket.socket(family, socket.SOCK_STREAM)
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._listener.bind((host, port))
        self._listener.listen(64)
        self.port = self._listener.getsockname()[1]
        self.url = f"http://[{host}]:{self.port}" if ":" in host else f"http://{host}:{self.port}"
        self.accepted = 0
        self._open = []

    def start(self):
        self._thread.start()

    def _accept(self):
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.accepted += 1
            self._open.append(connection)
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection):
        with contextlib.suppress(OSError):
            self._serve(connection)
        connection.close()

    def stop_listening(self):
        """From then on nobody takes connections at the address."""
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(WAIT_SEC)

    def close(self):
        self.stop_listening()
        for connection in self._open:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()


@pytest.fixture
def server():
    """Starts TCP servers that are closed at the end."""
    with contextlib.ExitStack() as stack:

        def start(serve, **options):
            s = Server(serve, **options)
            s.start()
            stack.callback(s.close)
            return s

        yield start


def read_request(connection):
    """Reads one HTTP request from a socket: its head and its body; None at the end."""
    data = b""
    while b"\r\n\r\n" not in data:
        part = connection.recv(65536)
        if not part:
            return None
        data += part
    head, _, body = data.partition(b"\r\n\r\n")
    length = 0
    for line in head.split(b"\r\n"):
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
    while len(body) < length:
        body += connection.recv(65536)
    return head.decode(), body
