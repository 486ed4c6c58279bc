"""The agent's side of a file spool, for sandboxes that cannot reach the hub's port.

A request is a file ``requests/<folder>/<id>.json``, its answer the file of the same
name below ``responses``. Whoever sees a name sees the whole file: files are written
under another name, synced and renamed. Somebody else, ``hubcli relay`` or a hub with
``--spool-dir``, takes the requests to the hub.

The answers are other people's files: only a regular one of a bounded size that
names its request is read.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import stat
import time
from datetime import datetime, timezone
from typing import Any, Optional

from .calls import new_key
from .errors import HubError
from .inputs import StrPath, agent, invalid, path, seconds
from .transport import Request, Response

DEFAULT_SPOOL_DIR = ".hub-relay"

# Statuses and codes of failures without an answer of the hub.
_SPOOL_FAILED = 597, "spool_failed"
_NO_ANSWER = 598, "relay_timeout"

_REQUEST_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_MAX_REQUEST_BYTES = 32 << 20  # what a forwarder reads
_MAX_ANSWER_BYTES = 256 << 20  # the largest answer of a hub, escaped
_QUICK_SEC, _SLOW_SEC = 0.001, 0.05  # first and longest pause between two looks
_LOOK_SHARE = 16  # an answer is seen late by at most a sixteenth of its time

# These flags are used where the system has them: an answer that is a link must not
# be followed, and a pipe must not be waited for.
_READ_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_WRITE_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


def relay_folder(agent_id: str) -> str:
    """Returns the name of an agent's folders in a spool.

    It is the id with every run of characters outside ``A-Z a-z 0-9 . _ -`` as one
    ``_``.

    Args:
        agent_id: 1 to 64 letters, digits and ``. _ @ : + -``.

    Raises:
        InvalidInput: It is no agent id.
    """
    return re.sub(r"[^A-Za-z0-9._-]+", "_", agent("agent_id", agent_id))


class RelayTransport:
    """Carries calls through a file spool; ``HubClient.over_relay`` makes one.

    Threads may share it, also across a fork. A call that is given up takes its
    request back if no forwarder has taken it yet.

    Args:
        agent_id: Who acts; names the folders.
        spool_dir: Folder of the spool, which must exist.
        timeout: Seconds to wait for the answer of a call that the hub parks, at
            least, unless the request itself is bounded.

    Raises:
        InvalidInput: ``agent_id`` is none, or ``spool_dir`` is no path.
    """

    # A forwarder parks a call for no longer than its request timeout less 5 s, which
    # is 25 s by default: shorter slices come back whole.
    max_wait = 20.0

    def __init__(self, agent_id: str, spool_dir: StrPath = DEFAULT_SPOOL_DIR, timeout: float = 30.0) -> None:
        folder = relay_folder(agent_id)
        # Absolute, so that it stays the same folder when the process changes its own.
        self._root = os.path.abspath(path("spool_dir", spool_dir))
        self._agent_id = agent_id
        self._timeout = seconds("timeout", timeout, least=0.001)
        self._requests = os.path.join(self._root, "requests", folder)
        self._responses = os.path.join(self._root, "responses", folder)

    def __repr__(self) -> str:
        return f"RelayTransport({self._agent_id!r}, {self._root!r})"

    @property
    def base_url(self) -> str:
        """The spool, as sentences name it."""
        return f"the spool {self._root}"

    def close(self) -> None:
        """Does nothing: nothing is kept between calls."""

    def send(self, request: Request) -> Response:
        """Writes the request, waits for its answer and removes it; see Transport.

        Raises:
            HubError: 597 "spool_failed" if the request cannot be written or its
                answer is none; 598 "relay_timeout" if none came. Where the outcome is
                unknown ``detail`` says so, with the ``request_id``.
        """
        request_id = request.key if request.key is not None else new_key()
        if not _REQUEST_ID.fullmatch(request_id):
            raise invalid("key", "the idempotency key cannot name a file of the spool")
        timeout = max(request.timeout, self._timeout) if request.wait > 0 else request.timeout
        timeout = min(timeout, request.bound)
        deadline = time.monotonic() + timeout
        name = request_id + ".json"
        try:
            self._write(name, self._content(request, request_id))
        except OSError as e:
            raise self._failed(f"the request cannot be written to {self.base_url}: {_reason(e)}") from None
        response, withdrawn = None, False
        try:
            response = self._await(name, request_id, deadline)
        finally:
            if response is None:  # also when the user interrupts: nobody would read the answer
                withdrawn = self._withdraw(name)
        if response is None and not withdrawn:
            response = self._look(name, request_id)  # it may have come just now
        if response is None:
            raise self._no_answer(timeout, request_id, withdrawn=withdrawn)
        return response

    def _content(self, request: Request, request_id: str) -> bytes:
        head = {
            "request_id": request_id,
            "agent_id": self._agent_id,
            "method": request.method,
            "path": request.path,
            "created_at": datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        }
        # The body is JSON already; it goes in as it is.
        content = json.dumps(head).encode()[:-1] + b', "body": ' + (request.body or b"null") + b"}"
        if len(content) > _MAX_REQUEST_BYTES:
            raise HubError(
                "the request is larger than a spool carries",
                413,
                {"limit": _MAX_REQUEST_BYTES, "size": len(content)},
                "send less, or an attachment that names a file",
                code="request_too_large",
            )
        return content

    def _write(self, name: str, content: bytes) -> None:
        if not os.path.isdir(self._root):
            raise FileNotFoundError(None, "the folder does not exist")
        try:
            self._put(name, content)
        except FileNotFoundError:  # an idle folder was just cleared away
            self._put(name, content)
        _sync_folder(self._requests)

    def _put(self, name: str, content: bytes) -> None:
        for folder in (self._requests, self._responses):
            for part in (os.path.dirname(folder), folder):
                with contextlib.suppress(FileExistsError):
                    os.mkdir(part, 0o700)
                if not stat.S_ISDIR(os.lstat(part).st_mode):
                    raise NotADirectoryError(None, f"{part} is no folder")
        temp = os.path.join(self._requests, f".tmp-{new_key()}")
        # Only the owner may read it, unless the folder was opened to the group or to others.
        mode = 0o600 | (os.stat(self._requests).st_mode & 0o066)
        fd = os.open(temp, _WRITE_FLAGS, mode)
        try:
            try:
                rest = memoryview(content)
                while rest:
                    rest = rest[os.write(fd, rest) :]
                os.fsync(fd)
            finally:
                os.close(fd)
            os.replace(temp, os.path.join(self._requests, name))
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temp)
            raise

    def _await(self, name: str, request_id: str, deadline: float) -> Optional[Response]:
        began = time.monotonic()
        while True:
            response = self._look(name, request_id)
            now = time.monotonic()
            left = deadline - now
            if response is not None or left <= 0:
                return response
            time.sleep(min(max(_QUICK_SEC, (now - began) / _LOOK_SHARE), _SLOW_SEC, left))

    def _look(self, name: str, request_id: str) -> Optional[Response]:
        """Returns the answer if it is there, and removes it."""
        path = os.path.join(self._responses, name)
        why = ""
        try:
            content = _read_regular(path)
        except FileNotFoundError:
            return None
        except OSError as e:
            if os.name == "nt" and isinstance(e, PermissionError):
                return None  # the file is being put in its place
            why = _reason(e)
        # The request is removed first. Suppose a forwarder died, and a new one finds a
        # request without an answer: it takes it for unanswered and sends it again.
        # The hub might then carry out a call that it had refused before.
        for spent in (os.path.join(self._requests, request_id + ".work"), path):
            with contextlib.suppress(OSError):
                os.unlink(spent)
        if why:
            raise self._bad_answer(request_id, why)
        try:
            answer = json.loads(content)
        except (ValueError, RecursionError):
            raise self._bad_answer(request_id, "it is not JSON") from None
        return self._checked(answer, request_id)

    def _checked(self, answer: Any, request_id: str) -> Response:
        if not isinstance(answer, dict) or answer.get("request_id") != request_id:
            raise self._bad_answer(request_id, "it answers another request")
        status, body, headers = answer.get("status"), answer.get("body"), answer.get("headers") or {}
        if isinstance(status, bool) or not isinstance(status, int) or not isinstance(body, dict):
            raise self._bad_answer(request_id, "it has no status or no body")
        if not isinstance(headers, dict):
            raise self._bad_answer(request_id, "its headers are none")
        try:
            text = json.dumps(body).encode()
        except (ValueError, RecursionError):
            raise self._bad_answer(request_id, "its body is not JSON") from None
        return Response(status, text, {str(k).lower(): v for k, v in headers.items() if isinstance(v, str)})

    def _withdraw(self, name: str) -> bool:
        """Takes the request back; False if a forwarder has it already."""
        try:
            os.unlink(os.path.join(self._requests, name))
        except OSError:
            return False
        return True

    def _failed(self, sentence: str) -> HubError:
        status, code = _SPOOL_FAILED
        fix = f"on the host run: hubcli relay --spool-dir {self._root}; and see that this agent may write there"
        return HubError(sentence, status, fix=fix, code=code)

    def _bad_answer(self, request_id: str, why: str) -> HubError:
        status, code = _SPOOL_FAILED
        return HubError(
            f"what lies in {self.base_url} as the answer is none: {why}",
            status,
            {"outcome": "unknown", "request_id": request_id},
            "see who writes to the folder " + self._responses,
            code=code,
        )

    def _no_answer(self, timeout: float, request_id: str, *, withdrawn: bool) -> HubError:
        status, code = _NO_ANSWER
        if withdrawn:
            sentence = f"nobody took the request from {self.base_url} within {timeout:g} seconds; it was withdrawn"
            detail = {"outcome": "none", "request_id": request_id}
            fix = f"on the host run: hubcli relay --spool-dir {self._root}"
        else:
            sentence = f"the request was taken from {self.base_url} and not answered within {timeout:g} seconds"
            detail = {"outcome": "unknown", "request_id": request_id}
            fix = "see whether the forwarder and the hub still run"
        return HubError(sentence, status, detail, fix, code=code)


def _read_regular(path: str) -> bytes:
    # The file is checked before it is opened, because opening a device may have
    # effects, and after that, because it may have been replaced in between.
    _check(os.lstat(path))
    fd = os.open(path, _READ_FLAGS)
    try:
        _check(os.fstat(fd))
        parts, size = [], 0
        while part := os.read(fd, 1 << 20):
            parts.append(part)
            size += len(part)
            if size > _MAX_ANSWER_BYTES:
                raise OSError(None, "it is too large")
        return b"".join(parts)
    finally:
        os.close(fd)


def _check(found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise OSError(None, "it is not a regular file")
    if found.st_size > _MAX_ANSWER_BYTES:
        raise OSError(None, "it is too large")


def _sync_folder(path: str) -> None:
    """Makes the names in a folder durable, where the system has a call for it."""
    if os.name == "nt":
        return
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _reason(e: OSError) -> str:
    return e.strerror or str(e)
