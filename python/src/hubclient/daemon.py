"""The hub on this machine: starting, stopping and deleting it, and where it keeps things.

Everything here runs the executable ``hubcli``. It is the argument ``executable``, or
else what the environment variable HUBCLI names, or else ``hubcli`` on the PATH.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any, Optional

from . import environment
from .errors import ANOTHER_PROGRAM, IMPOSTOR, UNREACHABLE, HubError
from .inputs import StrPath, count, path, seconds, text
from .inputs import port as checked_port

if sys.platform != "win32":
    import pwd

DEFAULT_HOST = environment.DefaultText("127.0.0.1")
DEFAULT_PORT = environment.DefaultNumber(6969)
DEFAULT_STORAGE = "hub.sqlite3"

_NAME = "hubcli"
_STOP_SEC = 120.0  # the executable gives a stopping hub 60 s
_LONGEST_SEC = 1e6  # a wait for a process overflows at 25 days
_MARGIN = 30.0  # on top of the executable's own timeout

# What an exit code of the executable means, for programs.
_CODES = {1: "refused", 2: "usage", 3: UNREACHABLE, 4: "wait_over", 70: "store_failed", 130: "interrupted"}


def ensure_hub(
    storage: Optional[StrPath] = None,
    *,
    host: str = DEFAULT_HOST,
    port: int = DEFAULT_PORT,
    spool_dir: Optional[StrPath] = None,
    timeout: float = 60.0,
    allow_remote: bool = False,
    max_body_chars: Optional[int] = None,
    max_attachment_chars: Optional[int] = None,
    max_attachments: Optional[int] = None,
    executable: Optional[StrPath] = None,
) -> dict[str, Any]:
    """Starts a hub in the background if none runs, and returns once it answers.

    However many callers do so at once, one hub starts and all succeed. The hub
    outlives this process. Where neither ``host`` nor ``port`` is given, HUB_BASE_URL in
    the environment says where it is, if it is set, or else the data root, if it remembers
    a port; the same holds for stop_hub and reset_hub. If the hub at the address is another
    user's and nothing has named it, this user's hub gets a port that the data root
    remembers from then on.

    Args:
        storage: Folder of the store; None is the application's, ``default_app_db()``.
        host: Address that the hub listens on.
        port: Port that it listens on, 1 to 65535.
        spool_dir: Folder of a file spool that it serves; None serves ``.hub-relay`` of
            the current folder if that is there.
        timeout: Seconds to wait for it.
        allow_remote: Let ``host`` name an address that other machines reach.
        max_body_chars: Most characters of a message body; None is the hub's default.
        max_attachment_chars: Most characters of an attachment, as JSON.
        max_attachments: Most attachments of a message.
        executable: The program ``hubcli``.

    Returns:
        ``base_url``, ``started`` (by this call), ``storage_path``, ``instance_id``,
        ``version`` and, if it was started, ``pid``. What the executable remarks, such
        as options that a running hub does not have, becomes a RuntimeWarning.

    Raises:
        HubError: The hub cannot be started, or ``storage`` is not the running hub's.
    """
    args = ["ensure", "--json", *_at(host, port), "--timeout", f"{seconds('timeout', timeout):.3f}"]
    args += _folder("storage", storage) + _folder("spool_dir", spool_dir)
    args += ["--allow-remote"] if allow_remote else []
    args += _most("max_body_chars", max_body_chars) + _most("max_attachment_chars", max_attachment_chars)
    args += _most("max_attachments", max_attachments)
    done = _run(args, executable, timeout + _MARGIN)
    try:
        started = json.loads(done.stdout)
    except ValueError:
        started = None
    if not isinstance(started, dict):
        raise _not_hubcli(done)
    for line in done.stderr.splitlines():
        warnings.warn(line.removeprefix(_NAME + ": "), RuntimeWarning, stacklevel=2)
    return started


def stop_hub(
    storage: Optional[StrPath] = DEFAULT_STORAGE,
    *,
    host: str = DEFAULT_HOST,
    port: int = DEFAULT_PORT,
    executable: Optional[StrPath] = None,
) -> None:
    """Stops the hub at an address and returns once it is gone; it is no error if none runs.

    Args:
        storage: Store that the hub must serve. The default is the standalone hub's in
            the current folder: name the store that you mean. None stops whatever hub
            runs at the address.
        host: Address that the hub listens on.
        port: Port that it listens on.
        executable: The program ``hubcli``.

    Raises:
        HubError: The hub there serves another store, or does not stop.
    """
    done = _run(["stop", *_at(host, port), *_folder("storage", storage)], executable, _STOP_SEC)
    if not done.stdout.startswith(("no hub runs at ", "hub stopped at ")):
        raise _not_hubcli(done)


def reset_hub(
    storage: Optional[StrPath] = DEFAULT_STORAGE,
    *,
    host: str = DEFAULT_HOST,
    port: int = DEFAULT_PORT,
    executable: Optional[StrPath] = None,
) -> None:
    """Deletes a store with everything in it, WITHOUT ASKING; stops its hub first.

    Args:
        storage: Folder of the store to delete. The default is the standalone hub's in
            the current folder; None is the application's, ``default_app_db()``.
        host: Address of the hub that serves it, if one does.
        port: Port of that hub.
        executable: The program ``hubcli``.

    Raises:
        HubError: The folder is no store, or the hub at the address serves another one;
            then nothing was deleted.
    """
    done = _run(["reset", "--yes", *_at(host, port), *_folder("storage", storage)], executable, _STOP_SEC)
    # If a hub ran, the output of the stop comes before that of the reset.
    if not any(line.startswith(("store deleted: ", "there is no store at ")) for line in done.stdout.splitlines()):
        raise _not_hubcli(done)


def data_root() -> Path:
    """Returns the folder in which hubcli keeps what belongs to this user.

    It is HUB_DATA_ROOT if that is set; else ``hubcli`` below ``$XDG_DATA_HOME`` or
    ``~/.local/share``, ``~/Library/Application Support`` or ``%LOCALAPPDATA%``.
    Nothing is created.

    Raises:
        HubError: Neither the environment nor the user database names a home folder.
    """
    given, home = os.environ.get("HUB_DATA_ROOT"), _home()
    if given:
        return _clean(os.path.abspath(given))
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        if local:
            return Path(local) / _NAME
    elif sys.platform == "darwin":
        if home:
            return Path(home) / "Library" / "Application Support" / _NAME
    else:
        xdg = os.environ.get("XDG_DATA_HOME")
        if xdg and os.path.isabs(xdg):  # the XDG rules: a relative value counts as unset
            return _clean(xdg) / _NAME
        if home:
            return _clean(home) / ".local" / "share" / _NAME
    raise HubError(
        "the data root cannot be told: the environment names no home folder",
        fix="set HUB_DATA_ROOT to a folder",
        code="usage",
    )


def _home() -> str:
    """Returns the home folder of this user: ``HOME``, else that of the user database, or nothing."""
    home = os.environ.get("HOME", "")
    if not home and sys.platform != "win32":
        try:
            home = pwd.getpwuid(os.getuid()).pw_dir
        except KeyError:
            home = ""
    return home


def _clean(path: str) -> Path:
    """Cleans a path as the executable does, and also drops the second leading slash that POSIX allows."""
    path = os.path.normpath(path)
    return Path(path[1:] if os.name == "posix" and path.startswith("//") else path)


def default_app_db() -> Path:
    """Returns the folder of the application's store, ``app.db`` in the data root."""
    return data_root() / "app.db"


def find_executable(executable: Optional[StrPath]) -> str:
    """Returns the path of hubcli, or says how to get it."""
    given = path("executable", executable) if executable is not None else os.environ.get("HUBCLI") or _NAME
    found = shutil.which(given)
    if found is None:
        raise HubError(
            f"the program {given} cannot be found or may not be run",
            fix="build it with: go run ./internal/pack -o ~/bin/hubcli; then put it on the PATH, "
            "or name it with the environment variable HUBCLI or the argument executable",
            code="executable_not_found",
        )
    return found


def failure(words: str, exit_code: int, command: str) -> HubError:
    """Turns what the executable said at its end into an error."""
    sentence, fix = f"{command} ended with exit code {exit_code}", ""
    for line in words.splitlines():
        if line.startswith(_NAME + ": "):
            sentence, fix = line.removeprefix(_NAME + ": "), ""
        elif line.startswith("fix: "):
            fix = line.removeprefix("fix: ")
    code = _CODES.get(exit_code, "refused")
    if code == UNREACHABLE and sentence.startswith(ANOTHER_PROGRAM):
        code = IMPOSTOR  # both end with the same exit code
    return HubError(sentence, 0, {"exit_code": exit_code}, fix, code=code)


def _run(args: list[str], executable: Optional[StrPath], timeout: float) -> subprocess.CompletedProcess[str]:
    command = [find_executable(executable), *args]
    try:
        done = subprocess.run(
            command,
            check=False,
            stdin=subprocess.DEVNULL,  # nobody is asked anything
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=min(timeout, _LONGEST_SEC),
        )
    except subprocess.TimeoutExpired:
        raise HubError(f"hubcli {args[0]} did not end within {timeout:g} seconds", code="wait_over") from None
    except (OSError, ValueError) as e:
        raise HubError(f"{command[0]} cannot be run: {e}", fix="name hubcli with HUBCLI", code="usage") from None
    if done.returncode != 0:
        raise failure(done.stderr, done.returncode, f"hubcli {args[0]}")
    return done


def _not_hubcli(done: subprocess.CompletedProcess[str]) -> HubError:
    return HubError(
        f"{done.args[0]} {done.args[1]} succeeded and did not say what hubcli says",
        fix="see that it is this project's hubcli",
        code="usage",
    )


def _at(host: str, port: int) -> list[str]:
    if isinstance(host, environment.DefaultText) and isinstance(port, environment.DefaultNumber):
        return []  # the executable takes HUB_BASE_URL then, or the port that the data root remembers
    if isinstance(port, environment.DefaultNumber):
        return ["--host", text("host", host)]
    return ["--host", text("host", host), "--port", str(checked_port(port))]


def _folder(field: str, value: Optional[StrPath]) -> list[str]:
    return [] if value is None else [f"--{field.replace('_', '-')}", path(field, value)]


def _most(field: str, value: Optional[int]) -> list[str]:
    return [] if value is None else [f"--{field.replace('_', '-')}", str(count(field, value))]
