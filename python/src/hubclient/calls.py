"""One call of the hub: encoded, sent, sent again where that is safe, and decoded."""

from __future__ import annotations

import json
import math
import secrets
import time
import urllib.parse
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Optional

from .errors import BROKE_OFF, NO_ANSWER, HubError
from .inputs import invalid, seconds, text
from .transport import Request, Response, Transport, not_a_hub

DEFAULT_TIMEOUT = 15.0
WAIT_MARGIN = 5.0  # seconds that a waiting call gets on top of its wait

_ATTEMPTS = 3
_MAX_RETRY_AFTER = 5.0  # a longer pause is the caller's to make
_FIRST_PAUSE = 0.1

# Codes after which a failed write may still have taken effect. With the first two no
# answer came; for the others the hub says that the outcome is unknown.
_LOST = frozenset((BROKE_OFF, NO_ANSWER))
_UNANSWERED = 597  # the first of the statuses that are a relay's own
_UNKNOWN = _LOST | {"store_failed", "store_gone", "timed_out", "in_progress", "corrupt_record", "internal"}


def new_key() -> str:
    """Returns a unique id, for a request and for its effect.

    Later ids sort behind earlier ones of the same machine. Both a spool and the
    header Idempotency-Key take it.
    """
    return f"{time.time_ns() // 1_000_000:012x}-{secrets.token_hex(10)}"


class Calls:
    """Makes calls over a transport; any number of threads may.

    Every call can be given ``until``, a moment of time.monotonic: whatever else it may
    take, it ends by then.

    Args:
        transport: What carries them.
        timeout: Seconds for the answer of a call that does not wait.

    Attributes:
        met: Whether a hub has ever answered.
    """

    def __init__(self, transport: Transport, timeout: float) -> None:
        self.transport = transport
        self.timeout = seconds("timeout", timeout, least=0.001)
        self.met = False

    def get(
        self, path: str, query: Mapping[str, Any], wait: float = 0.0, instance: str = "", until: float = math.inf
    ) -> Answer:
        """Reads; a parameter of None is left out. instance names the store that is meant."""
        given = "&".join(_parameter(name, value) for name, value in query.items() if value is not None)
        if given:
            path = f"{path}?{given}"
        request = Request("GET", path, wait=wait, timeout=self._limit(wait), instance=instance)
        # A waiting call is sent once: a second attempt would wait longer than the caller asked for.
        return self._answered(request, until) if wait <= 0 else self._sent(request, until)

    def post(self, path: str, body: Mapping[str, Any], until: float = math.inf) -> Answer:
        """Writes, at most once; a member of None is left out."""
        return self.write("POST", path, body, until=until)

    def write(
        self, method: str, path: str, body: Mapping[str, Any], wait: float = 0.0, until: float = math.inf
    ) -> Answer:
        """Writes as post does, with another method; the hub may take wait seconds."""
        given = {name: value for name, value in body.items() if value is not None}
        return self._answered(Request(method, path, encode(given), new_key(), wait, self._limit(wait)), until)

    def again(self, request: Request) -> Answer:
        """Sends a write again whose outcome is unknown: the hub does it once."""
        return self._answered(replace(request, timeout=self.timeout, bound=math.inf), math.inf, lost=True)

    def delete(self, path: str, timeout: float) -> Answer:
        """Deletes, in one attempt within timeout seconds."""
        return self._decode(self.transport.send(Request("DELETE", path, None, new_key(), timeout=timeout)))

    def _limit(self, wait: float) -> float:
        return wait + WAIT_MARGIN if wait > 0 else self.timeout

    def _sent(self, request: Request, until: float) -> Answer:
        if until < math.inf:
            left = max(until - time.monotonic(), 0.001)
            request = replace(request, timeout=min(request.timeout, left), bound=left)
        return self._decode(self.transport.send(request))

    def _answered(self, request: Request, until: float, *, lost: bool = False) -> Answer:
        """Sends until it is answered or not worth sending again.

        A connection that dropped is worth one repetition, a hub that says that it
        is busy two. Both are safe: reads change nothing, and the hub does a write
        once, however often it gets its key.
        """
        dropped = False
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                return self._sent(request, until)
            except HubError as e:
                lost = lost or e.code in _LOST
                pause = self._pause(e, attempt)
                if e.code == BROKE_OFF and not dropped:
                    dropped, pause = True, 0.0
                if pause is None or attempt == _ATTEMPTS or time.monotonic() + pause >= until:
                    # Any other answer is a refusal. The hub would not have refused the call if an
                    # earlier attempt had taken effect.
                    undecided = lost and (e.status == 0 or e.status >= 500)
                    unknown = e.code in _UNKNOWN or undecided or e.detail.get("outcome") == "unknown"
                    if unknown and request.key is not None:
                        e.detail["outcome"] = "unknown"
                        e.detail.setdefault("idempotency_key", request.key)
                        e._unresolved = request  # noqa: SLF001 - for resend alone
                    raise
            time.sleep(pause)
        raise AssertionError("the last attempt returns or raises")

    @staticmethod
    def _pause(e: HubError, attempt: int) -> Optional[float]:
        """Seconds after which the same call may succeed; None if it is not worth it."""
        wanted = e.retry_after
        if e.code == "in_progress" or (e.status == 503 and wanted > 0 and e.code != "stopping"):
            pause = wanted or _FIRST_PAUSE * attempt
            return pause if pause <= _MAX_RETRY_AFTER else None
        return None

    def _decode(self, response: Response) -> Answer:
        base_url = self.transport.base_url
        try:
            envelope = json.loads(response.body)
        except (ValueError, RecursionError):
            raise not_a_hub(base_url, f"it answered {response.status} without JSON") from None
        if not isinstance(envelope, dict) or not isinstance(envelope.get("ok"), bool):
            raise not_a_hub(base_url, f"it answered {response.status} without the hub's envelope")
        self.met = self.met or response.status < _UNANSWERED
        if envelope["ok"]:
            return Answer(envelope, response, base_url)
        raise _refusal(envelope, response)


class Answer:
    """A successful envelope, and the store that gave it."""

    def __init__(self, envelope: dict[str, Any], response: Response, base_url: str) -> None:
        self._envelope = envelope
        self._base_url = base_url
        instance = response.headers.get("x-hub-instance", "")
        # It is sent back in a header, so nothing else than an id is taken for one.
        self.instance = instance if instance.isascii() and instance.isalnum() else ""

    def row(self, *members: str) -> dict[str, Any]:
        """Returns the result where it is one row, which has at least these members."""
        result = self._envelope.get("result")
        if not isinstance(result, dict) or any(member not in result for member in members):
            raise not_a_hub(self._base_url, "its answer has another shape")
        return result

    def members(self) -> dict[str, Any]:
        """Returns the members of the answer beside ok."""
        if "result" not in self._envelope:
            raise not_a_hub(self._base_url, "its answer has another shape")
        return {name: value for name, value in self._envelope.items() if name != "ok"}

    def page(self) -> tuple[list[dict[str, Any]], int]:
        """Returns the rows of a feed and where the next page begins."""
        rows, next_since = self._envelope.get("result"), self._envelope.get("next_since_id")
        if (
            not isinstance(rows, list)
            or not isinstance(next_since, int)
            or not all(isinstance(r, dict) and isinstance(r.get("id"), int) for r in rows)
        ):
            raise not_a_hub(self._base_url, "its answer has another shape")
        return rows, next_since


def _refusal(envelope: dict[str, Any], response: Response) -> HubError:
    detail, status = envelope.get("detail"), envelope.get("status")
    e = HubError(
        str(envelope.get("error") or f"the hub answered {response.status} without a sentence"),
        status if isinstance(status, int) else response.status,
        dict(detail) if isinstance(detail, dict) else {},
        str(envelope.get("fix") or ""),
        envelope,
        str(envelope.get("code") or ""),
    )
    after = response.headers.get("retry-after", "")
    e.retry_after = float(after) if after.isdigit() and len(after) < 10 else 0.0
    return e


_ARGUMENTS = {"from_agent": "agent_id", "owner_agent_id": "agent_id", "created_by": "agent_id"}


def encode(members: Mapping[str, Any]) -> bytes:
    """Writes a compact JSON object in UTF-8, or says which argument cannot be written."""
    written = [_written(name, name) + b":" + _written(_ARGUMENTS.get(name, name), members[name]) for name in members]
    return b"{" + b",".join(written) + b"}"


def _written(name: str, value: Any) -> bytes:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        raise _half_a_character(name) from None
    except (TypeError, ValueError, RecursionError) as e:
        raise invalid(name, f"{name} cannot be written as JSON: {e}") from None


def _parameter(name: str, value: Any) -> str:
    try:
        return urllib.parse.urlencode({name: value}, doseq=isinstance(value, (list, tuple)))
    except UnicodeEncodeError:
        raise _half_a_character(name) from None


def _half_a_character(field: str) -> HubError:
    return invalid(field, f"{field} holds half of a surrogate pair, which is no character")


def escaped(field: str, name: str) -> str:
    """Returns an id as one segment of a path, or refuses the argument of this name."""
    try:
        return urllib.parse.quote(text(field, name), safe="")
    except UnicodeEncodeError:
        raise _half_a_character(field) from None
