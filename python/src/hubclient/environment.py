"""The values that the environment gives if a caller does not: HUB_BASE_URL and HUB_AGENT.

A harness that a hub has started has both, and so has all that it starts. An empty
variable counts as not set.
"""

from __future__ import annotations

import os

from .inputs import text

_BASE_URL = "HUB_BASE_URL"
_AGENT = "HUB_AGENT"


class DefaultText(str):
    """The default of an argument, told from the same text that a caller gives."""

    __slots__ = ()


class DefaultNumber(int):
    """As DefaultText, of a number."""

    __slots__ = ()


def base_url(given: str) -> tuple[str, str]:
    """Returns the address of the hub, and the name of the argument or variable that gave it.

    A DefaultText says that neither has given one.
    """
    named = os.environ.get(_BASE_URL)
    if isinstance(given, DefaultText) and named:
        return named, _BASE_URL
    return given, "base_url"


def agent_id(given: str) -> tuple[str, bool]:
    """Returns the agent id, and whether it comes from the environment and not from an argument."""
    named = os.environ.get(_AGENT)
    if given == "" and named:
        return named, True
    return text("agent_id", given, f"name the agent, for example 'reviewer', or set {_AGENT}"), False
