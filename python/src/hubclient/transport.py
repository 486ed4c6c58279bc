"""How calls reach the hub: the interface of transports, and HTTP."""

from __future__ import annotations

import collections
import contextlib
import http.client
import io
import ipaddress
import math
import os
import re
import select
import socket
import ssl
import sys
import time
import urllib.parse
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Optional, Protocol, runtime_checkable

from . import environment, remembered
from .errors import BROKE_OFF, NO_ANSWER, NOT_A_HUB, UNREACHABLE, HubError, InvalidInput
from .inputs import invalid, seconds
from .proof import Challenge, Proofs

DEFAULT_BASE_URL = environment.DefaultText("http://127.0.0.1:6969")

_CONNECT_SEC = 5.0  # a local hub accepts at once or not at all
_NEAR_SEC = 0.25  # to connect within the machine, where a refusal may not reach a caller on loopback
_PROOF_SEC = 15.0  # for the answer to a challenge
_UNREADY = 503  # the status of a hub that starts or stops
_IDLE_SEC = 60.0  # the hub closes after 120 s; the client must close first
_MAX_IDLE = 16  # connections kept between calls
_MAX_ANSWER_BYTES = 1 << 30
_LONGEST_SEC = 1e6  # of one read; sockets overflow at 25 days
_SLACK = 0.05  # seconds by which an answer may be late
_CHUNK = 1 << 20  # bytes that are asked for at once; answers seldom have more

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # of RFC 9110: a header's name
_HEADER_VALUE = re.compile(r"[\x20-\x7e]*")
_HOST = re.compile(r"[A-Za-z0-9._-]{1,253}|[0-9A-Fa-f:.]{2,45}")  # a name or IPv4; IPv6 has lost its brackets
_PREFIX = re.compile(r"(/[A-Za-z0-9._~!$&'()*+,;=:@%-]+)*")


@dataclass(frozen=True)
class Request:
    """One call, to be sent once.

    Attributes:
        method: GET, POST, PUT or DELETE.
        path: From /v1, escaped, with its query.
        body: One JSON object in UTF-8, or None for no body.
        key: Idempotency key of a write; None for a read.
        wait: Seconds for which the hub may park the call; 0 for one that does not wait.
        timeout: Seconds within which the whole answer must be there. A transport that
            is slow by nature may give a waiting call more time, up to ``bound``.
        bound: Seconds after which the caller goes on without an answer.
        instance: Id of the store that the call is meant for, or empty. A transport
            that cannot send it to the hub leaves it out.
    """

    method: str
    path: str = field(repr=False)  # may hold a session id
    body: Optional[bytes] = field(default=None, repr=False)  # may hold a resume key
    key: Optional[str] = None
    wait: float = 0.0
    timeout: float = 15.0
    instance: str = ""
    bound: float = math.inf


@dataclass(frozen=True)
class Response:
    """What came back.

    Attributes:
        status: HTTP status, or 597 to 599 from a relay.
        body: The envelope, JSON in UTF-8.
        headers: Header fields, by lower-case name. ``x-hub-instance`` and
            ``retry-after`` are read; a transport may leave others out.
    """

    status: int
    body: bytes = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict)


@runtime_checkable
class Transport(Protocol):
    """Carries the calls of a HubClient; give your own as ``HubClient(transport=…)``.

    It is called by several threads at a time. It sends each request once. The
    client decides which requests to send again.
    """

    @property
    def base_url(self) -> str:
        """Address of the hub, as error messages show it."""

    @property
    def max_wait(self) -> float:
        """Longest time in seconds for which one call may be parked."""

    def send(self, request: Request) -> Response:
        """Sends once and returns the answer, whatever its status.

        Raises:
            HubError: No answer came: status 0 and code "unreachable" or "impostor"
                (nothing was sent), "broke_off" (sending again may help), "no_answer" or
                "not_a_hub"; a transport may have codes of its own.
        """

    def close(self) -> None:
        """Drops what is kept between calls. A later send works again."""


class HttpTransport:
    """HTTP with kept-alive connections: no proxy, no redirect, no session header.

    Threads share it; each call under way has a connection of its own, so that a
    parked poll delays nobody. Connections are not used across a fork.

    Where a hub of this user has served at the address, nothing is sent on a new connection
    before the other end has proved to be this hub. The key for it is in the data root; where
    that cannot be read, as in a sandbox, no proof is asked for.

    Args:
        base_url: http or https, a host, and perhaps a port and a path prefix. The default
            is HUB_BASE_URL from the environment, or this user's hub on this machine, at
            port 6969 if the data root remembers no other one.
        timeout: Longest time in seconds to connect; each call has its own timeout.
        headers: Header fields sent with every call. An integration that has to
            prove its session from another machine gives ``X-Hub-Session`` here.

    Raises:
        InvalidInput: The address or a header is not valid.
    """

    max_wait = 60.0  # the hub's clamp of GET /v1/events

    def __init__(
        self,
        base_url: str = DEFAULT_BASE_URL,
        timeout: float = 15.0,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        self._address = _address(base_url)
        self._connect_sec = min(seconds("timeout", timeout, least=0.001), _CONNECT_SEC)
        self._fixed = self._address.host_header + _header_lines(headers or {}) + "Accept: application/json\r\n"
        self._tls = ssl.create_default_context() if self._address.tls else None
        self._proofs = Proofs()
        # Last in, first out: few connections stay warm, the others age and go. A
        # deque's append and pop are atomic, so no lock can stay held after a fork.
        self._idle: collections.deque[_Connection] = collections.deque()

    def __repr__(self) -> str:
        return f"HttpTransport({self.base_url!r})"

    @property
    def base_url(self) -> str:
        """The address without a trailing slash."""
        return self._address.url

    def send(self, request: Request) -> Response:
        """Sends once over a connection of its own; see Transport."""
        deadline = time.monotonic() + request.timeout
        connection = self._take() or self._proved(request, deadline)
        whole = False
        try:
            response, keep = connection.exchange(self._head(request), request, deadline)
            whole = True
        except (TimeoutError, socket.timeout):  # before Python 3.10 they are two classes
            raise self._no_answer(request.timeout) from None
        except (OSError, EOFError, http.client.IncompleteRead) as e:  # RemoteDisconnected is an OSError
            raise self._broke_off(e) from None
        except http.client.HTTPException:
            raise self._not_a_hub("its answer is not HTTP") from None
        except _AnswerTooLargeError:
            raise self._not_a_hub(f"its answer has more than {_MAX_ANSWER_BYTES} bytes") from None
        finally:
            if not whole:  # also when the user interrupts: the next call would read the rest of the answer
                connection.close()
                self.close()  # the idle connections are likely to be dead as well
        if keep:
            self._keep(connection)
        else:
            connection.close()
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            raise self._not_a_hub(f"it answered {response.status} without JSON")
        return response

    def close(self) -> None:
        """Closes the idle connections."""
        while self._idle:
            try:
                self._idle.pop().close()
            except IndexError:  # another thread took the last one
                return

    def _head(self, request: Request) -> str:
        lines = f"{request.method} {self._address.prefix}{request.path} HTTP/1.1\r\n{self._fixed}"
        if request.key is not None:
            lines += f"Idempotency-Key: {request.key}\r\n"
        if request.instance:
            lines += f"X-Hub-Instance: {request.instance}\r\n"
        if request.body is not None:
            lines += f"Content-Type: application/json\r\nContent-Length: {len(request.body)}\r\n"
        elif request.method in ("POST", "PUT"):
            lines += "Content-Length: 0\r\n"
        return lines + "\r\n"

    def _take(self) -> Optional[_Connection]:
        while self._idle:
            try:
                connection = self._idle.pop()
            except IndexError:
                return None
            if connection.usable():
                return connection
            connection.close()
        return None

    def _keep(self, connection: _Connection) -> None:
        connection.idle_since = time.monotonic()
        self._idle.append(connection)
        if len(self._idle) > _MAX_IDLE:
            try:
                self._idle.popleft().close()
            except IndexError:
                return

    def _connect(self, deadline: float) -> _Connection:
        timeout = max(min(self._connect_sec, deadline - time.monotonic()), 0.001)
        try:
            sock = _connected(self._address, self._proofs.numeric(self._address.host, self._address.port), timeout)
        except OSError as e:
            raise self._unreachable(e) from None
        try:
            # Without it a small request may wait for the acknowledgement of the last.
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self._tls is not None:
                sock = self._tls.wrap_socket(sock, server_hostname=self._address.host)
        except ssl.SSLError as e:
            sock.close()
            raise self._not_a_hub(f"no TLS connection can be made: {e.reason or e}") from None
        except OSError as e:
            sock.close()
            raise self._broke_off(e) from None
        return _Connection(sock)

    def _proved(self, request: Request, deadline: float) -> _Connection:
        """Returns a new connection, once the hub of this user has proved itself on it, if there is one."""
        connection = self._connect(deadline)
        whole = False
        try:
            challenge = None if self._tls is not None else self._proofs.challenge(connection.peer())
            if challenge is not None:
                self._demand(challenge, connection, deadline)
            whole = True
            return connection
        except (TimeoutError, socket.timeout):
            raise self._no_answer(request.timeout) from None
        except (OSError, EOFError, http.client.IncompleteRead) as e:
            raise self._broke_off(e) from None
        finally:
            if not whole:
                connection.close()

    def _demand(self, challenge: Challenge, connection: _Connection, deadline: float) -> None:
        head = f"GET {challenge.path} HTTP/1.1\r\n{self._address.host_header}Accept: application/json\r\n\r\n"
        try:
            asked = Request("GET", challenge.path)
            response, keep = connection.exchange(head, asked, min(deadline, time.monotonic() + _PROOF_SEC))
        except (http.client.RemoteDisconnected, http.client.IncompleteRead):
            raise
        except (http.client.HTTPException, _AnswerTooLargeError):
            raise challenge.failed() from None
        if response.status == _UNREADY:
            raise EOFError
        challenge.check(response.body)
        if not keep:
            raise EOFError

    def _unreachable(self, cause: OSError) -> HubError:
        fix = "start one with: hubcli ensure"
        if not self._address.loopback:
            fix = "check the address, and that the hub there was started with --allow-remote"
        elif self._address.port != remembered.port():
            fix += f" --port {self._address.port}"
        reason = cause.strerror or str(cause)
        return HubError(f"no hub answers at {self.base_url} ({reason})", fix=fix, code=UNREACHABLE)

    def _no_answer(self, timeout: float) -> HubError:
        return HubError(
            f"the hub at {self.base_url} did not answer within {timeout:g} seconds",
            fix=f"see what holds it up: hubcli app status --base-url {self.base_url}",
            code=NO_ANSWER,
        )

    def _broke_off(self, cause: BaseException) -> HubError:
        reason = (cause.strerror if isinstance(cause, OSError) else None) or "it was closed before the answer had come"
        return HubError(
            f"the connection to {self.base_url} broke off: {reason}",
            fix=f"see whether the hub still runs: hubcli app status --base-url {self.base_url}",
            code=BROKE_OFF,
        )

    def _not_a_hub(self, why: str) -> HubError:
        return not_a_hub(self.base_url, why)


def not_a_hub(base_url: str, why: str) -> HubError:
    """Builds the error of an answer that no hub gives."""
    return HubError(
        f"the server at {base_url} is not a hub: {why}",
        fix="check the address, or give the hub another port",
        code=NOT_A_HUB,
    )


class _AnswerTooLargeError(Exception):
    pass


class _Connection:
    """One connection, used by one call at a time."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._pid = os.getpid()
        self.idle_since = 0.0

    def usable(self) -> bool:
        """Tells whether an idle connection is this process's, young, open and silent."""
        if self._pid != os.getpid() or time.monotonic() - self.idle_since > _IDLE_SEC:
            return False
        try:
            return not _readable(self._sock)  # an end of file or a stray byte: it cannot be used again
        except (OSError, ValueError):
            return False

    def peer(self) -> tuple[str, int]:
        """Returns the address and the port of the other end."""
        host, port = self._sock.getpeername()[:2]
        return host, port

    def close(self) -> None:
        # No shutdown: a forked process would end its parent's connection with it.
        self._sock.close()

    def exchange(self, head: str, request: Request, deadline: float) -> tuple[Response, bool]:
        """Sends the call and reads the whole answer; also returns whether the connection may be used again."""
        # One write for head and body, so that they leave in one packet.
        data = head.encode("ascii") + (request.body or b"")
        reader = _Reader(self._sock, deadline)
        # The hub may refuse a large body, and answer, before it has received all of it.
        with contextlib.suppress(ConnectionError):
            self._sock.sendall(data)
        answer = http.client.HTTPResponse(reader, method=request.method)  # type: ignore[arg-type]  # makefile is all it uses
        try:
            answer.begin()
            parts, size = [], 0
            while part := answer.read(_CHUNK):
                parts.append(part)
                size += len(part)
                if size > _MAX_ANSWER_BYTES:
                    raise _AnswerTooLargeError
            if answer.length:  # bytes of Content-Length that did not come
                raise EOFError
            headers = {name.lower(): value for name, value in answer.getheaders()}
            return Response(answer.status, b"".join(parts), headers), not answer.will_close
        finally:
            answer.close()


class _Reader(io.RawIOBase):
    """Reads a socket until a deadline, however slowly the bytes come."""

    def __init__(self, sock: socket.socket, deadline: float) -> None:
        self._sock = sock
        self._deadline = deadline
        self._limit()

    def makefile(self, _mode: str) -> io.BufferedReader:
        return io.BufferedReader(self)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if self._deadline - time.monotonic() < self._left - _SLACK:
            self._limit()
        return self._sock.recv_into(buffer)

    def _limit(self) -> None:
        # settimeout is a system call: skip it while the answer comes without pauses.
        self._left = self._deadline - time.monotonic()
        if self._left <= 0:
            raise TimeoutError
        self._sock.settimeout(min(self._left, _LONGEST_SEC))


def _connected(address: _Address, host: str, timeout: float) -> socket.socket:
    """Connects to the hub.

    To another address of this machine the connection comes from loopback, so that the
    hub sees that the caller is on its machine.
    """
    there = (host, address.port)
    source = address.near_source()
    if source:
        with contextlib.suppress(OSError):
            return socket.create_connection(there, min(timeout, _NEAR_SEC), (source, 0))
    return socket.create_connection(there, timeout)


def _readable(sock: socket.socket) -> bool:
    if hasattr(select, "poll"):  # unlike select it takes any file descriptor
        poller = select.poll()
        poller.register(sock, select.POLLIN)
        return bool(poller.poll(0))
    return bool(select.select([sock], [], [], 0)[0])


@dataclass(frozen=True)
class _Address:
    url: str
    host: str
    port: int
    prefix: str
    tls: bool

    @property
    def host_header(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        default = 443 if self.tls else 80
        return f"Host: {host}\r\n" if self.port == default else f"Host: {host}:{self.port}\r\n"

    @property
    def loopback(self) -> bool:
        return self.host.lower() == "localhost" or self.host == "::1" or bool(re.fullmatch(r"127(\.\d+){3}", self.host))

    def near_source(self) -> str:
        """Returns the loopback address to call from; empty if the host is loopback, a name, or not on this machine."""
        if sys.platform == "win32":  # Windows lets no such connection out
            return ""
        try:
            ip = ipaddress.ip_address(self.host)
        except ValueError:
            return ""
        if ip.is_loopback or ip.is_unspecified or ip.is_multicast:
            return ""
        family, source = (socket.AF_INET, "127.0.0.1") if ip.version == 4 else (socket.AF_INET6, "::1")
        try:
            with socket.socket(family, socket.SOCK_DGRAM) as probe:
                probe.bind((self.host, 0))  # only an address of this machine can be bound
        except OSError:
            return ""
        return source

    @classmethod
    def parse(cls, text: str) -> _Address:
        if not isinstance(text, str):
            raise _bad_address("is not a string")
        if not text.isascii() or re.search(r"[\x00-\x20\x7f\\]", text):
            raise _bad_address("holds a character that no address has")
        try:
            parts = urllib.parse.urlsplit(text)
            port, host = parts.port, parts.hostname
        except ValueError:
            raise _bad_address("cannot be parsed") from None
        if parts.scheme not in ("http", "https"):
            raise _bad_address("does not begin with http:// or https://")
        if not host or not _HOST.fullmatch(host):
            raise _bad_address("names no host")
        if "@" in parts.netloc:
            raise _bad_address("carries a user name; the hub has none")
        if "?" in text or "#" in text:
            raise _bad_address("carries a query or a fragment")
        if port == 0:
            raise _bad_address("names port 0")
        prefix = parts.path.rstrip("/")
        if not _PREFIX.fullmatch(prefix):
            raise _bad_address("carries a path that is not valid")
        tls = parts.scheme == "https"
        url = f"{parts.scheme}://{parts.netloc.lower()}{prefix}"
        return cls(url, host, port or (443 if tls else 80), prefix, tls)


def _address(base_url: str) -> _Address:
    """Returns the address of an argument, or of the environment if it was not given."""
    named, where = remembered.base_url(base_url)
    try:
        return _Address.parse(named)
    except InvalidInput as e:
        if where == "base_url":
            raise
        raise invalid(where, f"{where} in the environment is no address of a hub: {e.error}", e.fix) from None


def _bad_address(why: str) -> HubError:
    return invalid(
        "base_url",
        f"the base address {why}",
        f"give it as http://<host>:<port>, for example {DEFAULT_BASE_URL}",
    )


_OWN_HEADERS = frozenset(
    ("accept", "connection", "content-length", "content-type", "host", "idempotency-key", "transfer-encoding")
)


def _header_lines(headers: Mapping[str, str]) -> str:
    lines = ""
    for name, value in headers.items():
        if not isinstance(name, str) or not _TOKEN.fullmatch(name) or name.lower() in _OWN_HEADERS:
            raise invalid("headers", f"{name!r} is no header that can be added to every call")
        if not isinstance(value, str) or not _HEADER_VALUE.fullmatch(value):
            raise invalid("headers", f"the value of the header {name} is not printable ASCII")
        lines += f"{name}: {value}\r\n"
    return lines
