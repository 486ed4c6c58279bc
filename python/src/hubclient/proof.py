"""Whether the program that has the hub's port is this user's hub.

A hub notes in the data root which store it serves at which address, and a key with which
it proves itself. The note stays when the hub stops, so that a program that takes the port
meanwhile is noticed before anything is sent to it.
"""

from __future__ import annotations

import base64
import contextlib
import errno
import hashlib
import hmac
import ipaddress
import json
import secrets
import socket
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Optional, Union

from . import ownfile
from .daemon import data_root
from .errors import ANOTHER_PROGRAM, IMPOSTOR, HubError

_MAX_NOTE_BYTES = 16 << 10
_KEY_BYTES = 32
_VERSION = 1
_ABSENT = frozenset((errno.ENOENT, errno.ENOTDIR, errno.EACCES, errno.EPERM))  # of a note; a sandbox may not look

_IP = Union[ipaddress.IPv4Address, ipaddress.IPv6Address]


@dataclass(frozen=True)
class _Note:
    instance: str
    key: bytes = field(repr=False)


@dataclass(frozen=True)
class Challenge:
    """What the other end of a new connection is asked first.

    Attributes:
        address: Of the other end, as host:port.
    """

    address: str
    _nonce: str
    _note: _Note

    @property
    def path(self) -> str:
        """Of the request, with its query."""
        return f"/v1/hub-info?nonce={self._nonce}"

    def check(self, body: bytes) -> None:
        """Returns if the answer proves that the hub of the note has given it.

        Raises:
            HubError: It does not; code "impostor".
        """
        proof = ""
        with contextlib.suppress(ValueError, RecursionError, AttributeError):
            proof = json.loads(body).get("result").get("proof")
        said = f"hub-proof-1\n{self._nonce}\n{self.address}\n{self._note.instance}"
        want = hmac.new(self._note.key, said.encode(), hashlib.sha256).hexdigest()
        if not isinstance(proof, str) or not hmac.compare_digest(proof.encode(errors="replace"), want.encode()):
            raise self.failed()

    def failed(self) -> HubError:
        """Builds the error of a program that is not the hub."""
        port = self.address.rpartition(":")[2]
        look = f"netstat -ano | findstr :{port}" if sys.platform == "win32" else f"lsof -nP -iTCP:{port} -sTCP:LISTEN"
        if sys.platform.startswith("linux"):
            look = f"ss -ltnp sport = :{port}"
        return HubError(
            ANOTHER_PROGRAM + self.address,
            fix=f"see which program it is with: {look}; end it and start the hub with hubcli ensure, "
            "or give the hub another port with --port",
            code=IMPOSTOR,
        )


class Proofs:
    """The notes of the hubs of this user.

    A note that was read once counts for as long as the program runs, also if its file is
    gone: who has met a hub does not go back to believing the port. Threads may share it.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[str, int], _Note] = {}

    def challenge(self, peer: tuple[str, int]) -> Optional[Challenge]:
        """Returns what to ask the other end of a connection; None: no hub is noted there.

        Raises:
            HubError: There is a note that cannot be used; code "impostor".
        """
        ip = _plain(peer[0])
        port = peer[1]
        note = self._note(ip, port)
        if note is None or not _here(ip):
            return None
        self._known[str(ip), port] = note
        host = f"[{ip}]" if ip.version == 6 else str(ip)
        return Challenge(f"{host}:{port}", secrets.token_hex(16), note)

    def numeric(self, host: str, port: int) -> str:
        """Returns the address of the hub of this user for which the name localhost stands.

        The name stands for two addresses, and at the other one any program may listen.
        """
        if host.lower() == "localhost":
            for numeric in ("127.0.0.1", "::1"):
                try:
                    if self._note(ipaddress.ip_address(numeric), port) is not None:
                        return numeric
                except HubError:  # the challenge tells of it
                    return numeric
        return host

    def _note(self, ip: _IP, port: int) -> Optional[_Note]:
        try:
            root = data_root()
        except HubError:
            return None
        # A hub that listens on all addresses is noted at none of them.
        for host in (str(ip), *(["0.0.0.0"] if ip.version == 4 else []), "::"):  # noqa: S104 - looked up, not bound
            file = root / "hubs" / f"{host.replace(':', '_')}_{port}"
            try:
                return _read(file)
            except OSError as e:
                if e.errno not in _ABSENT:
                    raise _unusable(file, e.strerror or str(e)) from None
            except ValueError as e:
                raise _unusable(file, str(e)) from None
        return self._known.get((str(ip), port))


def _plain(host: str) -> _IP:
    """Returns an address without a zone; one of IPv4 in the form of IPv6 is one of IPv4."""
    ip = ipaddress.ip_address(host.partition("%")[0])
    return (ip.ipv4_mapped if ip.version == 6 else None) or ip


def _here(ip: _IP) -> bool:
    """Tells whether an address is one of this machine."""
    if ip.is_loopback:
        return True
    family = socket.AF_INET if ip.version == 4 else socket.AF_INET6
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind((str(ip), 0))  # only an address of this machine can be bound
    except OSError:
        return False
    return True


def _read(file: Path) -> _Note:
    """Reads a note. What belongs to another user, or what others may write, is no note of this user."""
    data = ownfile.read(file, _MAX_NOTE_BYTES)
    try:
        note: Any = json.loads(data)
        version, instance, text = note["version"], note["instance_id"], note["proof_key"]
        key = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except (ValueError, RecursionError, TypeError, KeyError):
        raise ValueError("it is no JSON object of a hub") from None
    if version != _VERSION:
        raise ValueError(f"it has version {version}, and this client knows version {_VERSION}")
    if not isinstance(instance, str) or not instance or len(key) != _KEY_BYTES:
        raise ValueError("it names no instance or no key")
    return _Note(instance, key)


def _unusable(file: Path, why: str) -> HubError:
    return HubError(
        f"it cannot be told whether the program at the address is the hub: {file}: {why}",
        fix="delete that file, end the hub and start it again with hubcli ensure: it writes the file anew",
        code=IMPOSTOR,
    )
