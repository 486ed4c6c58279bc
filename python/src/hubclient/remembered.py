"""Where this user's hub is if neither an argument nor the environment says it.

The data root remembers a port if the hub of another user of the machine has the usual one.
"""

from __future__ import annotations

import re

from . import environment, ownfile
from .daemon import DEFAULT_PORT, data_root
from .errors import HubError

_MAX_BYTES = 64
_PORT = re.compile(rb"\s*([1-9][0-9]{0,4})\s*")


def port() -> int:
    """Returns the port that the data root remembers.

    A file that is not this user's, that others may write or that names no port counts as
    none, as it does for the executable.
    """
    try:
        text = ownfile.read(data_root() / "port", _MAX_BYTES)
    except (OSError, ValueError, HubError):
        return DEFAULT_PORT
    found = _PORT.fullmatch(text)
    number = int(found[1]) if found and len(text) <= _MAX_BYTES else 0
    return number if 1 <= number <= 65535 else DEFAULT_PORT


def base_url(given: str) -> tuple[str, str]:
    """Returns the address of the hub, and the name of the argument or variable that gave it."""
    named, where = environment.base_url(given)
    if isinstance(named, environment.DefaultText):
        return f"http://127.0.0.1:{port()}", where
    return named, where
