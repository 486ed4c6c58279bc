"""The one error of the package."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional

if TYPE_CHECKING:
    from .transport import Request

# Codes of failures without an answer of the hub; their status is 0. The codes of the
# relay have statuses of their own (relay.py).
UNREACHABLE = "unreachable"  # nothing takes connections at the address
NO_ANSWER = "no_answer"  # the connection stood, the answer did not come in time
BROKE_OFF = "broke_off"  # the connection ended before the answer did
NOT_A_HUB = "not_a_hub"  # something else answers at the address
IMPOSTOR = "impostor"  # this user's hub has served at the address, and another program has it now; nothing was sent
ANOTHER_PROGRAM = "another program has the hub's port "  # begins the sentence of IMPOSTOR, here and in the executable
CALL_TIMEOUT = "call_timeout"  # call() posted its request and saw no answer in time (status 408)


class HubError(Exception):
    """A failure, in the form in which the hub answers it.

    Printing it gives the sentence and what to do about it. It never holds a
    session id or a resume key.

    Attributes:
        error: One sentence for people.
        status: HTTP status; 0 if no hub answered; 597 to 599 are the relay's.
        detail: Facts for programs. If a write may have taken effect although it
            failed, ``outcome`` is "unknown" and ``idempotency_key`` is its key;
            ``resend`` finds out.
            Of ``call``, ``request_id`` is the id of the message that was posted.
        fix: What to do next, a sentence; may be empty.
        envelope: The whole answer of the hub; empty if none answered.
        code: The failure for programs, snake_case, of the hub's table of errors or
            "unreachable", "no_answer", "broke_off", "not_a_hub", "impostor", "call_timeout".
        retry_after: Seconds after which the same call may succeed, as the hub said; or 0.
    """

    def __init__(
        self,
        error: str,
        status: int = 0,
        detail: Optional[dict[str, Any]] = None,
        fix: str = "",
        envelope: Optional[dict[str, Any]] = None,
        code: str = "",
    ) -> None:
        self.error = error
        self.status = status
        self.detail = {} if detail is None else detail
        self.fix = fix
        self.envelope = {} if envelope is None else envelope
        self.code = code
        self.retry_after = 0.0
        self._unresolved: Optional[Request] = None  # what resend sends again
        super().__init__(error)

    def __str__(self) -> str:
        sentence = self.error
        limit, size = self.detail.get("limit"), self.detail.get("size")
        if isinstance(limit, int) and isinstance(size, int):
            sentence += f" ({size}, the limit is {limit})"
        if self.detail.get("outcome") == "unknown":
            sentence += "; whether the call took effect is unknown"
        return f"{sentence}; {self.fix}" if self.fix else sentence

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.error!r}, status={self.status}, code={self.code!r})"


class InvalidInput(HubError, ValueError):  # noqa: N818 - a HubError to those who expect one, a ValueError to the rest
    """An argument that no call may have; nothing was sent.

    ``detail["field"]`` names the argument; status and code are those with which
    the hub refuses such values: 400, "invalid".
    """
