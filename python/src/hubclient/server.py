"""Hubs and relays that live and end with this program, as child processes."""

from __future__ import annotations

import collections
import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from types import FrameType, TracebackType
from typing import NoReturn, Optional, TypeVar

from . import environment, remembered
from .calls import Calls
from .daemon import DEFAULT_HOST, DEFAULT_PORT, DEFAULT_STORAGE, failure, find_executable
from .errors import HubError
from .inputs import StrPath, count, invalid, path, port, seconds, text
from .relay import DEFAULT_SPOOL_DIR
from .transport import DEFAULT_BASE_URL, HttpTransport

_PROBE_SEC = 0.02  # between two looks whether a child is ready
_STOP_SEC = 60.0  # a hub may have a large checkpoint to write
_LAST_WORDS = 50  # lines of a child's output that are kept for its failure
_READY = re.compile(r"hubcli: ready at (http://\S+), store ")
_RELAY_READY = "hubcli: relay ready: "


@dataclass(frozen=True)
class HubConfig:
    """How a hub in the foreground runs: the flags of bare ``hubcli``.

    Attributes:
        host: Address to listen on.
        port: Port to listen on; 0 takes a free one, which the server's ``url`` tells. The
            default is the one that the data root remembers, if it does.
        storage: Folder of the store, created if need be.
        allow_remote: Let ``host`` name an address that other machines reach.
        quiet: Log warnings and errors only.
        spool_dir: Folder of a file spool to serve. The default one is served if this hub
            has served it before, any other one is made.
        max_body_chars: Most characters of a message body.
        max_attachment_chars: Most characters of an attachment, as JSON.
        max_attachments: Most attachments of a message.
        no_auto_rooms: Make no room for the repository of an agent that needs one and is in none.
    """

    host: str = DEFAULT_HOST
    port: int = DEFAULT_PORT
    storage: StrPath = DEFAULT_STORAGE
    allow_remote: bool = False
    quiet: bool = False
    spool_dir: StrPath = DEFAULT_SPOOL_DIR
    max_body_chars: int = 128000
    max_attachment_chars: int = 256000
    max_attachments: int = 32
    no_auto_rooms: bool = False

    def arguments(self) -> list[str]:
        """Returns the flags."""
        if self.port == 0 and self.quiet:
            raise invalid(
                "quiet", "a quiet hub does not tell which port it has taken", "name the port, or leave quiet out"
            )
        at = remembered.port() if isinstance(self.port, environment.DefaultNumber) else port(self.port)
        args = ["--host", text("host", self.host), "--port", str(at)]
        args += ["--storage", path("storage", self.storage)]
        for field in ("max_body_chars", "max_attachment_chars", "max_attachments"):
            args += [f"--{field.replace('_', '-')}", str(count(field, getattr(self, field)))]
        spool_dir = path("spool_dir", self.spool_dir)
        if spool_dir != DEFAULT_SPOOL_DIR:
            args += ["--spool-dir", spool_dir]
        args += ["--no-auto-rooms"] * self.no_auto_rooms
        return args + ["--allow-remote"] * self.allow_remote + ["--quiet"] * self.quiet


_ChildT = TypeVar("_ChildT", bound="_Child")


class _Child:
    """A hubcli in the foreground that ends with its parent's stop, or its exit.

    ``with`` starts it and stops it at its end.
    """

    def __init__(self, args: list[str], executable: Optional[StrPath]) -> None:
        self._command = [find_executable(executable), *args]
        self._process: Optional[subprocess.Popen[str]] = None
        self._owner = os.getpid()
        self._words: collections.deque[str] = collections.deque(maxlen=_LAST_WORDS)
        self._reader: Optional[threading.Thread] = None
        self._finalizer: Optional[weakref.finalize[..., _Child]] = None

    def __enter__(self: _ChildT) -> _ChildT:  # noqa: PYI019 - Self came with Python 3.11
        self.start()
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.stop()

    @property
    def pid(self) -> Optional[int]:
        """Process id of the child; None when none runs."""
        return None if self._process is None else self._process.pid

    def start(self, timeout: float = 60.0) -> None:
        """Starts the child and returns once it is ready; does nothing if it runs.

        Args:
            timeout: Seconds to wait for it.

        Raises:
            HubError: It ended with a failure, whose sentence and fix are the error's,
                or is not ready in time.
        """
        deadline = time.monotonic() + seconds("timeout", timeout)
        if self._process is not None and self._process.poll() is None:
            return
        self._launch()
        try:
            while not self._ready():
                if self._process is None or self._process.poll() is not None:
                    self._failed()
                if time.monotonic() > deadline:
                    raise HubError(f"hubcli was started and is not ready after {timeout:g} seconds", code="wait_over")
                time.sleep(_PROBE_SEC)
        except BaseException:
            self.stop()
            raise

    def stop(self, timeout: float = _STOP_SEC) -> None:
        """Stops the child and returns once it is gone; does nothing if none runs.

        Args:
            timeout: Seconds after which it is killed. Nothing acknowledged is lost then.
        """
        timeout = seconds("timeout", timeout)
        process, self._process = self._process, None
        if process is None or self._owner != os.getpid():  # a forked copy is not the parent
            return
        _stop(process, timeout)
        self._ended()

    def wait(self) -> None:
        """Blocks until the child ends by itself or by somebody else's stop.

        Raises:
            HubError: It ended with a failure.
        """
        process = self._process
        if process is None:
            return
        ended = process.wait()
        if self._process is not process:
            return  # another thread has stopped it
        if ended != 0:
            self._failed()
        self.stop()

    def _launch(self) -> None:
        self._words.clear()
        try:
            process = subprocess.Popen(
                # Its standard input is a lifeline: however this program ends, or loses
                # hold of the child, the system closes it and the child stops.
                [*self._command, "--stop-with-stdin"],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                encoding="utf-8",
                errors="replace",
                # Ctrl-C reaches this program alone, which then stops the child: a
                # second signal would break its clean stop off.
                start_new_session=True,
            )
        except OSError as e:
            raise HubError(
                f"{self._command[0]} cannot be run: {e}", fix="name hubcli with HUBCLI", code="usage"
            ) from None
        self._process, self._owner = process, os.getpid()
        self._reader = threading.Thread(target=_listen, args=(process, self._words), name="hubcli output", daemon=True)
        self._reader.start()
        self._finalizer = weakref.finalize(self, _end, process, self._owner)  # also at the exit of the program

    def _failed(self) -> NoReturn:
        process, self._process = self._process, None
        if process is not None:
            _stop(process, 0)
        self._ended()
        exit_code = -1 if process is None else process.returncode
        raise failure("".join(self._words), exit_code, "hubcli")

    def _ended(self) -> None:
        """Lets go of what watched over a child that is gone."""
        if self._finalizer is not None:
            self._finalizer.detach()
        if self._reader is not None:
            self._reader.join()

    def _ready(self) -> bool:
        raise NotImplementedError


class HubServer(_Child):
    """A hub as a child process; ``create_server`` makes one."""

    def __init__(self, config: HubConfig, executable: Optional[StrPath]) -> None:
        super().__init__(config.arguments(), executable)  # which refuses a config that is none
        self.config = config
        self._url = "" if config.port == 0 else _local_url(config.host, config.port)

    @property
    def url(self) -> str:
        """Base address of the hub for clients on this machine; empty until a free port is known."""
        return self._url

    def _ready(self) -> bool:
        if self.config.port == 0:
            told = next((m for m in map(_READY.match, list(self._words)) if m), None)
            if told is None:
                return False
            self._url = _local_url(self.config.host, int(told[1].rpartition(":")[2]))
        transport = HttpTransport(self._url)
        try:
            # Somebody else's hub may have the port: then the child ends and says so.
            row = Calls(transport, 5.0).get("/v1/app/status", {}).row()
        except HubError:
            return False
        finally:
            transport.close()
        return row.get("pid") == self.pid


class RelayProcess(_Child):
    """A forwarder as a child process; ``create_relay`` makes one."""

    def _ready(self) -> bool:
        return any(line.startswith(_RELAY_READY) for line in list(self._words))


def create_server(config: Optional[HubConfig] = None, *, executable: Optional[StrPath] = None) -> HubServer:
    """Returns a hub that runs as a child of this program; ``start`` or ``with`` starts it.

    Its log goes to this program's stderr. It ends with ``stop``, at the end of
    ``with``, and when the program ends, however it ends. A process that was forked
    from the program without an exec keeps the hub until it has ended too, unless the
    program stops the hub before.

    Args:
        config: How it runs; None is HubConfig().
        executable: The program ``hubcli``.

    Raises:
        HubError: The executable cannot be found.
    """
    return HubServer(HubConfig() if config is None else config, executable)


def run_server(config: Optional[HubConfig] = None, *, executable: Optional[StrPath] = None) -> None:
    """Runs a hub until it ends; Ctrl-C and SIGTERM stop it cleanly.

    Args:
        config: How it runs; None is HubConfig().
        executable: The program ``hubcli``.

    Raises:
        HubError: It could not start, or ended with a failure.
    """
    _run_child(create_server(config, executable=executable))


def create_relay(
    spool_dir: StrPath = DEFAULT_SPOOL_DIR,
    base_url: str = DEFAULT_BASE_URL,
    *,
    poll_interval_sec: float = 0.25,
    request_timeout_sec: float = 30.0,
    executable: Optional[StrPath] = None,
) -> RelayProcess:
    """Returns a forwarder of a spool as a child of this program; ``start`` or ``with`` starts it.

    Args:
        spool_dir: Folder of the spool, created if need be.
        base_url: Address of the hub; HUB_BASE_URL if it is not given.
        poll_interval_sec: Seconds between two looks for requests that no notification tells of.
        request_timeout_sec: Seconds that the hub has to answer one; waits are cut 5 s below it.
        executable: The program ``hubcli``.

    Raises:
        HubError: The executable cannot be found.
    """
    named, _ = remembered.base_url(base_url)
    args = ["relay", "--base-url", text("base_url", named), "--spool-dir", path("spool_dir", spool_dir)]
    args += ["--poll-interval-sec", f"{seconds('poll_interval_sec', poll_interval_sec):.3f}"]
    args += ["--request-timeout-sec", f"{seconds('request_timeout_sec', request_timeout_sec):.3f}"]
    return RelayProcess(args, executable)


def run_relay(
    spool_dir: StrPath = DEFAULT_SPOOL_DIR,
    base_url: str = DEFAULT_BASE_URL,
    *,
    poll_interval_sec: float = 0.25,
    request_timeout_sec: float = 30.0,
    executable: Optional[StrPath] = None,
) -> None:
    """Forwards the requests of a spool until Ctrl-C or SIGTERM.

    The arguments are those of create_relay.

    Raises:
        HubError: It could not start, or ended with a failure.
    """
    relay = create_relay(
        spool_dir,
        base_url,
        poll_interval_sec=poll_interval_sec,
        request_timeout_sec=request_timeout_sec,
        executable=executable,
    )
    _run_child(relay)


def _run_child(child: _Child) -> None:
    with _interrupted_by_sigterm(), contextlib.suppress(KeyboardInterrupt), child:
        child.wait()


@contextlib.contextmanager
def _interrupted_by_sigterm() -> Iterator[None]:
    """Makes SIGTERM and SIGHUP do what Ctrl-C does, where signals can be caught: in the main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(_number: int, _frame: Optional[FrameType]) -> NoReturn:
        raise KeyboardInterrupt

    numbers = [signal.SIGTERM] + ([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])
    # What is ignored stays so: under nohup the program is to outlive its terminal. None
    # is a handler that is not Python's and could not be put back.
    caught = [number for number in numbers if signal.getsignal(number) not in (signal.SIG_IGN, None)]
    before = {number: signal.signal(number, interrupt) for number in caught}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _listen(process: subprocess.Popen[str], words: collections.deque[str]) -> None:
    """Passes on what a child logs; it would stand still before a full pipe."""
    if process.stderr is None:
        return
    with process.stderr as lines:
        for line in lines:
            words.append(line)
            with contextlib.suppress(Exception):  # whatever became of stderr
                sys.stderr.write(line)


def _end(process: subprocess.Popen[str], owner: int) -> None:
    """Ends a child whose object is gone, or whose program exits; a forked copy leaves it alone."""
    if os.getpid() == owner:
        _stop(process, _STOP_SEC)


def _stop(process: subprocess.Popen[str], timeout: float) -> None:
    """Asks a child to stop, waits until it is gone, and kills it after timeout seconds."""
    if process.poll() is None:
        if os.name != "nt":  # Windows has no signal that a program without a console could catch
            process.terminate()
        _let_go(process)
        try:
            process.wait(timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    _let_go(process)


def _let_go(process: subprocess.Popen[str]) -> None:
    """Closes the child's standard input, which tells it to stop."""
    if process.stdin is not None:
        with contextlib.suppress(OSError):
            process.stdin.close()


def _local_url(host: str, port: int) -> str:
    """Returns how a client on this machine reaches a hub that listens at host."""
    local = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - compared, not bound
    return f"http://[{local}]:{port}" if ":" in local else f"http://{local}:{port}"
