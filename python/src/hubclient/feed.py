"""Reading messages as they come: the cursor, and polls."""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Mapping
from typing import Any, Optional

from .calls import Answer, Calls
from .errors import BROKE_OFF, UNREACHABLE, HubError

EARLY_PAUSE = 0.05  # seconds before a poll is repeated that came back before its time

_ABSENCE_SEC = 5.0  # for which a poll waits for a hub that is starting again
_AWAY_PAUSE = 0.1  # seconds before such a hub is looked for again
_AWAY_CODES = frozenset((UNREACHABLE, BROKE_OFF, "stopping"))  # a relay's code is "unreachable" too

_FAR = 1000  # ids; a look that moved the cursor further may have stopped before the head

# Guards the cursors of all clients for the moment of a comparison. It is one lock,
# so that it is free in both processes after a fork.
_lock = threading.Lock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_lock.acquire,
        after_in_parent=_lock.release,
        after_in_child=_lock.release,
    )


class Cursor:
    """The highest message id that was seen, in one store. Threads may share it."""

    def __init__(self) -> None:
        self.since = 0
        self.instance = ""  # of the store; empty until an answer named it

    def set(self, since: int) -> None:
        """Sets it to the place that the user names."""
        with _lock:
            self.since = since

    def adopt(self, since: int, instance: str) -> None:
        """Moves it to the head of the store that answered, which may be a new one."""
        with _lock:
            changed = self._changed(instance)
            self.instance = instance or self.instance
            self.since = since if changed else max(self.since, since)

    def advance(self, since: int, instance: str) -> None:
        """Moves it forward, never back.

        Raises:
            HubError: 409 "store_changed" if another store answered: ids count anew there.
        """
        with _lock:
            if self._changed(instance):
                raise HubError(
                    "the hub serves another store than the one that the cursor counts in",
                    409,
                    {"instance_id": instance, "expected": self.instance},
                    "forget what was read, call bootstrap() and go on",
                    code="store_changed",
                )
            self.instance = instance or self.instance
            self.since = max(self.since, since)

    def _changed(self, instance: str) -> bool:
        return bool(instance and self.instance and instance != self.instance)


def poll(calls: Calls, cursor: Cursor, query: Mapping[str, Any], deadline: float) -> list[dict[str, Any]]:
    """Waits until a deadline for rows after the cursor, and moves it.

    A hub that goes away in the middle, or is busy, may be back soon; one that has never
    answered this client is more likely not to be there at all.
    """
    back_by: Optional[float] = None  # the moment up to which a hub that is away may stay so
    dropped = False
    while True:
        since = cursor.since
        began = time.monotonic()
        try:
            answer, rows, next_since = events(calls, query, since, max(deadline - began, 0.0), cursor.instance)
        except HubError as e:
            if e.code == BROKE_OFF and not dropped:  # worth a look at once, with the time that is left
                dropped = True
                continue
            now = time.monotonic()
            back_by = min(now + _ABSENCE_SEC, deadline) if back_by is None else back_by
            busy = e.status == 503 and e.retry_after > 0
            pause = e.retry_after if busy else _AWAY_PAUSE
            if not calls.met or not (busy or e.code in _AWAY_CODES) or now + pause > back_by:
                raise
            time.sleep(pause)
            continue
        back_by, dropped = None, False
        cursor.advance(next_since, answer.instance)
        now = time.monotonic()
        # An empty answer with a moved cursor: the hub examines a bounded number of rows a call.
        if rows or (now >= deadline and next_since - since < _FAR):
            return rows
        if next_since <= since and now - began < EARLY_PAUSE:
            time.sleep(max(min(EARLY_PAUSE, deadline - now), 0.0))


def events(
    calls: Calls, query: Mapping[str, Any], since: int, wait: float, instance: str = "", until: float = math.inf
) -> tuple[Answer, list[dict[str, Any]], int]:
    """Waits for rows once, at most for as long as the transport can park a call."""
    wait = min(wait, calls.transport.max_wait)
    asked = {**query, "since_id": since, "timeout": f"{wait:.3f}"}
    answer = calls.get("/v1/events", asked, wait, instance, until)
    return (answer, *answer.page())
