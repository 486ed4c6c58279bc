"""What became of a write that was not answered."""

from __future__ import annotations

from typing import Any

from .client import HubClient
from .errors import HubError
from .inputs import invalid


def resend(client: HubClient, error: HubError) -> dict[str, Any]:
    """Sends a write again whose outcome is unknown, and returns its row.

    It is the very same request with the same key. If the hub has done it already it
    gives the answer of then, and else it does it now: in both cases it happened once.
    The hub knows a key for 24 hours.

    Args:
        client: Who sends it: a client of the agent that the error came from.
        error: What the method raised, with ``outcome`` "unknown" in its ``detail``.

    Returns:
        The row that the method would have returned. After a ``call`` it is the row of
        the request; its answer will be the message whose ``reply_to`` is its id.

    Raises:
        InvalidInput: The error is not of a write of unknown outcome. That of
            ``resume_mcp_identity`` is none either: resume once more.
        HubError: What the hub refuses; or the outcome is unknown still, and this error
            can be given to resend again.
    """
    if not isinstance(client, HubClient):
        raise invalid("client", "client is no HubClient")
    request = error._unresolved if isinstance(error, HubError) else None  # noqa: SLF001 - the same package
    if request is None:
        raise invalid("error", "the error is not of a write whose outcome is unknown", "call the method again")
    return client._calls.again(request).row()  # noqa: SLF001 - the same package
