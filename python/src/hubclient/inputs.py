"""What arguments must be: refused here with their names, before anything is sent."""

from __future__ import annotations

import os
import re
from typing import Any, Union

from .errors import InvalidInput

StrPath = Union[str, "os.PathLike[str]"]

_AGENT_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@:+-]{0,63}")
_LONGEST_SEC = 10 * 365 * 86400.0  # what is longer is a mistake, and overflows somewhere
_LAST_PORT = 65535


def invalid(field: str, error: str, fix: str = "") -> InvalidInput:
    """Builds the refusal of an argument."""
    return InvalidInput(error, 400, {"field": field}, fix, code="invalid")


def seconds(field: str, value: float, *, least: float = 0.0) -> float:
    """Returns value as a number of seconds, at most ten years, or refuses it."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not value >= least:  # NaN is not
        raise invalid(field, f"{field} is not a number of seconds from {least:g} on")
    if value > _LONGEST_SEC:
        raise invalid(field, f"{field} is more than ten years", f"give at most {_LONGEST_SEC:.0f} seconds")
    return float(value)


def agent(field: str, value: str) -> str:
    """Returns value if it has the form of an agent id, or refuses it."""
    if not isinstance(value, str) or not _AGENT_ID.fullmatch(value):
        raise invalid(
            field,
            f"{field} is not an agent id",
            "use 1 to 64 letters, digits and . _ @ : + -, beginning with a letter or digit",
        )
    return value


def text(field: str, value: str, fix: str = "") -> str:
    """Returns value if it is a string that is not empty, or refuses it."""
    if not isinstance(value, str) or not value:
        raise invalid(field, f"{field} is missing or not a string", fix)
    return value


def port(value: int) -> int:
    """Returns value if it can be the number of a port, 0 included, or refuses it."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _LAST_PORT:
        raise invalid("port", f"port is not a number from 0 to {_LAST_PORT}")
    return value


def path(field: str, value: Any) -> str:
    """Returns value as the text of a path that is not empty, or refuses it."""
    found = os.fspath(value) if isinstance(value, (str, os.PathLike)) else None
    if not isinstance(found, str) or not found:
        raise invalid(field, f"{field} is not a path")
    return found


def count(field: str, value: int) -> int:
    """Returns value if it is a whole number from 0 on, or refuses it."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise invalid(field, f"{field} is not a whole number from 0 on")
    return value
