"""Calls for which HubClient has no method of its own."""

from __future__ import annotations

from typing import Any

from .calls import escaped
from .client import HubClient
from .inputs import invalid, seconds
from .operations import OPERATIONS


def request(client: HubClient, operation: str, **members: Any) -> dict[str, Any]:
    """Makes any call that an agent may make, and returns its answer.

    docs/calls.md lists the calls by their names. A write happens once, as those of the
    methods do.

    Args:
        client: Who calls. The hub is told its ``agent_id`` where the call takes one and
            ``members`` does not name another.
        operation: The name of the call, such as "listDecisions".
        **members: The parameters of the call: of its path, and of its query or its body.
            None is left out; a list is sent as often as it has elements.

    Returns:
        ``result``, and what the call answers beside it, such as ``next_cursor`` of a list
        that goes on.

    Raises:
        InvalidInput: There is no such call, or a parameter of its path is missing.
        HubError: What the hub refuses.
    """
    if not isinstance(client, HubClient):
        raise invalid("client", "client is no HubClient")
    known = OPERATIONS.get(operation) if isinstance(operation, str) else None
    if known is None:
        raise invalid("operation", f"there is no call {operation!r} that an agent may make", "docs/calls.md lists them")
    path = known.path
    if known.agent:
        members.setdefault(known.agent, client.agent_id)
    if "{" in path:
        name = path[path.index("{") + 1 : path.index("}")]
        value = members.pop(name, None)
        path = path.replace("{" + name + "}", escaped(name, str(value) if isinstance(value, int) else value))
    calls = client._calls  # noqa: SLF001 - the same package
    wait = members.get("timeout", members.get("wait_sec")) if known.method == "GET" else members.get("wait_sec")
    wait = known.wait if wait is None else seconds("timeout", wait)
    if known.method == "GET":
        return calls.get(path, members, wait).members()
    return calls.write(known.method, path, members, wait).members()
