"""The wait of a call() for its answer."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Optional

from .calls import Calls, escaped
from .errors import CALL_TIMEOUT, HubError
from .feed import EARLY_PAUSE, events

GRACE_SEC = 1.0  # by which a call may outlast its time: the last answers need a moment
_PAGE = 1000  # rows, the most that the hub gives at once
_AWAY_PAUSE = 0.25  # seconds before a hub is tried again that could not be reached


class Wait:
    """The wait of one call() for the answer to its request."""

    def __init__(
        self, calls: Calls, agent_id: str, request: dict[str, Any], channel: str, deadline: float, interval: float
    ) -> None:
        self._calls = calls
        self._agent_id = agent_id
        self._id = int(request["id"])
        self._channel = channel
        self._deadline = deadline
        self._until = deadline + GRACE_SEC
        self._interval = max(interval, EARLY_PAUSE)  # a look costs three calls
        # Each view has a cursor of its own; nothing before the request can answer it.
        self._seen: dict[str, int] = dict.fromkeys(("events", "inbox", "channel"), self._id)

    def answer(self) -> dict[str, Any]:
        """Returns the row, or raises 408."""
        trouble: Optional[HubError] = None
        while True:
            try:
                row = self._events() or self._inbox() or self._channel_view()
            except HubError as e:
                # A hub that restarts, or a relay that is not running, may be back in time.
                if e.status not in (0, 503, 598, 599) or e.code == "not_a_hub":
                    raise
                row, trouble = None, e
                time.sleep(max(min(_AWAY_PAUSE, self._deadline - time.monotonic()), 0))
            if row is not None:
                return row
            if time.monotonic() >= self._deadline:
                raise self._over() from trouble

    def _over(self) -> HubError:
        return HubError(
            f"message {self._id} was posted and not answered in time",
            408,
            {"request_id": self._id},
            f"do not send it again; poll for the task_result whose reply_to is {self._id}",
            code=CALL_TIMEOUT,
        )

    def _match(self, view: str, page: tuple[list[dict[str, Any]], int]) -> Optional[dict[str, Any]]:
        rows, next_since = page
        for row in rows:
            if row.get("reply_to") == self._id and row.get("kind") == "task_result":
                return row
        self._seen[view] = max(self._seen[view], next_since)
        return None

    def _events(self) -> Optional[dict[str, Any]]:
        """Parks until something comes that may be the answer, or the interval is over."""
        wait = max(min(self._interval, self._deadline - time.monotonic()), 0.0)
        query = {
            "agent_id": self._agent_id,
            "exclude_self": "false",  # an agent may have asked itself
            "channel": self._channel,
            "limit": _PAGE,
            "peek": "true",  # the request's id does not say that the agent has seen what came before
        }
        began = time.monotonic()
        try:
            _, rows, next_since = events(self._calls, query, self._seen["events"], wait, until=self._until)
        except HubError as e:
            if e.code == "too_many_polls":  # the agent waits elsewhere as often as it may: looks must do
                time.sleep(wait)
                return None
            if e.code != "channel_not_found":
                raise
            # The label of the request names no channel: only the inbox can bring the answer.
            query["channel"] = "direct"
            _, rows, next_since = events(self._calls, query, self._seen["events"], wait, until=self._until)
        if not rows and time.monotonic() - began < min(EARLY_PAUSE, wait):
            time.sleep(min(EARLY_PAUSE, wait))
        return self._match("events", (rows, next_since))

    def _inbox(self) -> Optional[dict[str, Any]]:
        return self._through("inbox", "/v1/inbox/" + escaped("agent_id", self._agent_id), {"peek": "true"})

    def _channel_view(self) -> Optional[dict[str, Any]]:
        query = {"channel": self._channel, "agent_id": self._agent_id, "timeout": 0}
        try:
            return self._through("channel", "/v1/messages", query)
        except HubError as e:
            if e.code == "channel_not_found":
                return None
            raise

    def _through(self, view: str, path: str, query: Mapping[str, Any]) -> Optional[dict[str, Any]]:
        """Searches all pages of a view that are new since the last search."""
        while True:
            since = self._seen[view]
            page = self._calls.get(path, {**query, "since_id": since, "limit": _PAGE}, until=self._until).page()
            row = self._match(view, page)
            if row is not None or self._seen[view] == since:
                return row
