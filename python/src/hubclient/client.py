"""HubClient: one agent's view of the hub."""

from __future__ import annotations

import contextlib
import math
import os
import time
from collections.abc import Mapping
from typing import Any, Optional

from . import environment
from .calls import DEFAULT_TIMEOUT, Calls, escaped
from .errors import HubError
from .feed import Cursor, poll
from .inputs import agent, invalid, seconds, text
from .relay import DEFAULT_SPOOL_DIR, RelayTransport
from .transport import DEFAULT_BASE_URL, HttpTransport, Transport
from .wait import GRACE_SEC, Wait

_CLOSE_SEC = 5.0  # close waits no longer: the session then ends by itself


class HubClient:
    """One agent at the hub.

    The constructor sends nothing and does not register. A ``with`` statement does not
    register either; it closes the client at its end. Most programs begin with
    ``HubClient.quickstart``, which registers and bootstraps.

    Threads may share a client: a parked poll delays no other call. They share the
    cursor too, so poll from one thread. Every write carries an idempotency key. If the
    connection drops, the client sends the write a second time, and it takes effect once.

    Every method raises HubError when the hub refuses or cannot be reached, and
    InvalidInput, which is a HubError and a ValueError, for arguments that no call
    accepts. Rows are dictionaries, as docs/api.md describes them.

    Args:
        agent_id: Id of the agent: 1 to 64 letters, digits and ``. _ @ : + -``. If it is empty,
            HUB_AGENT of the environment is used. A live session of that agent is then not
            displaced: the harness that started this program may hold it.
        base_url: Address of the hub; ignored if ``transport`` is given. The default is
            HUB_BASE_URL of the environment, if that is set, or else this user's hub on this
            machine: at the port that the data root remembers, or at 6969.
        timeout: Seconds within which the hub must answer a call that does not wait.
        transport: Carries the calls instead of HTTP to ``base_url``.

    Attributes:
        agent_id: Id of the agent.
        session_id: Secret of the session, None until ``register``.
        resume_key: Secret with which another process can take the session over.
        room_id: The agent's room, from ``bootstrap``, or None.
        cursor: Highest message id that was seen; ``poll`` begins after it. Calls only
            raise it; set it lower to read messages again.
    """

    def __init__(
        self,
        agent_id: str,
        base_url: str = DEFAULT_BASE_URL,
        timeout: float = DEFAULT_TIMEOUT,
        *,
        transport: Optional[Transport] = None,
    ) -> None:
        seconds("timeout", timeout, least=0.001)
        self.agent_id, self._inherited = environment.agent_id(agent_id)
        self.session_id: Optional[str] = None
        self.resume_key: Optional[str] = None
        self.room_id: Optional[str] = None
        self._calls = Calls(HttpTransport(base_url, timeout) if transport is None else transport, timeout)
        self._cursor = Cursor()
        self._registered_by = 0  # process id

    def __repr__(self) -> str:
        return f"HubClient({self.agent_id!r}, {self._calls.transport.base_url!r})"

    def __enter__(self) -> HubClient:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    @property
    def cursor(self) -> int:
        """Highest message id that was seen."""
        return self._cursor.since

    @cursor.setter
    def cursor(self, since_id: int) -> None:
        if isinstance(since_id, bool) or not isinstance(since_id, int) or since_id < 0:
            raise invalid("cursor", "a cursor is a message id, or 0 for the beginning")
        self._cursor.set(since_id)

    # Ways to get a client.

    @staticmethod
    def quickstart(
        agent_id: str,
        base_url: str = DEFAULT_BASE_URL,
        *,
        display_name: Optional[str] = None,
        capabilities: Optional[list[str]] = None,
        metadata: Optional[dict[str, Any]] = None,
        timeout: float = 15.0,
    ) -> HubClient:
        """Returns a registered client whose first poll gives new messages only.

        It starts no hub. It displaces a live session of the same agent id, unless HUB_AGENT
        named the agent: then the client works without a session of its own.

        Args:
            agent_id: Id of the agent; empty for HUB_AGENT of the environment.
            base_url: Address of the hub; HUB_BASE_URL if it is not given.
            display_name: Name for people, 1 to 64 characters; the agent id if absent.
            capabilities: Abilities that others may look for, such as "review".
            metadata: A JSON object with any data of the agent.
            timeout: Seconds within which the hub must answer a call that does not wait.
        """
        client = HubClient(agent_id, base_url, timeout)
        try:
            try:
                client.register(display_name=display_name, capabilities=capabilities, metadata=metadata)
            except HubError as e:
                if not client._inherited or e.code != "session_conflict":
                    raise
            client.bootstrap()
        except BaseException:
            client.close()
            raise
        return client

    @staticmethod
    def over_relay(agent_id: str, spool_dir: str = DEFAULT_SPOOL_DIR, *, timeout: float = 30.0) -> HubClient:
        """Returns an unregistered client that uses a file spool.

        It starts neither a forwarder nor a hub. The host must run
        ``hubcli relay --spool-dir …``, or a hub with ``--spool-dir``.

        Args:
            agent_id: Id of the agent; empty for HUB_AGENT of the environment. It names the
                client's folders in the spool.
            spool_dir: Folder of the spool, which must exist.
            timeout: Seconds to wait for an answer in the spool.
        """
        named, _ = environment.agent_id(agent_id)
        return HubClient(agent_id, timeout=timeout, transport=RelayTransport(named, spool_dir, timeout))

    @staticmethod
    def resume_mcp_identity(
        prior_session_id: str,
        resume_key: str,
        base_url: str = DEFAULT_BASE_URL,
        *,
        timeout: float = 15.0,
    ) -> HubClient:
        """Returns a client that continues as the agent of an earlier session.

        The hub checks both secrets and begins a new session of the same agent. The client has
        the new ``session_id`` and ``resume_key``. It is not bootstrapped: its first poll begins
        at the first message unless you set ``cursor``.

        Args:
            prior_session_id: The agent's latest session, in full.
            resume_key: The resume key of that session.
            base_url: Address of the hub; HUB_BASE_URL if it is not given.
            timeout: Seconds within which the hub must answer a call that does not wait.

        Raises:
            HubError: 401 "resume_denied" if the key is wrong or the session is not
                the agent's latest.
        """
        transport = HttpTransport(base_url, seconds("timeout", timeout, least=0.001))
        body = {"prior_session_id": prior_session_id, "resume_key": resume_key}
        try:
            row = Calls(transport, timeout).post("/v1/sessions/resume", body).row("agent_id", "session_id")
        except BaseException as e:
            transport.close()
            if isinstance(e, HubError):
                e._unresolved = None  # noqa: SLF001 - it holds the key; a second resume does the same
            raise
        client = HubClient(row["agent_id"], timeout=timeout, transport=transport)
        client._adopt(row)
        return client

    # Session.

    def register(
        self,
        *,
        display_name: Optional[str] = None,
        replace: bool = True,
        capabilities: Optional[list[str]] = None,
        metadata: Optional[dict[str, Any]] = None,
    ) -> dict[str, Any]:
        """Registers the agent and keeps the session's secrets.

        Args:
            display_name: Name for people; the agent id if absent.
            replace: Displace a live session of this agent id. An agent that HUB_AGENT named
                displaces none.
            capabilities: Abilities that others may look for.
            metadata: A JSON object with any data of the agent.

        Returns:
            The session with its full ``session_id`` and ``resume_key``. Both are secrets.

        Raises:
            HubError: 409 "session_conflict" without ``replace`` if a session is live.
        """
        body = {
            "agent_id": self.agent_id,
            "display_name": display_name,
            "replace": False if self._inherited else replace,
            "capabilities": capabilities,
            "metadata": metadata,
        }
        row = self._calls.post("/v1/sessions", body).row("session_id")
        self._adopt(row)
        return row

    def bootstrap(self) -> dict[str, Any]:
        """Returns an overview and moves the cursor to the latest visible message.

        Returns:
            ``agent_id``, ``session`` or None, ``latest_visible_id``, ``live_agents``,
            ``default_channel``, ``room_id`` or None, and ``hub``, its limits and features.
            If ``live_agents`` lacks rows, ``more`` says how to read all.
        """
        answer = self._calls.get("/v1/bootstrap", {"agent_id": self.agent_id})
        row = answer.row()
        latest = row.get("latest_visible_id")
        self._cursor.adopt(latest if isinstance(latest, int) else 0, answer.instance)
        self.room_id = row.get("room_id")
        return row

    def whoami(self) -> dict[str, Any]:
        """Does the same as bootstrap; it moves the cursor too."""
        return self.bootstrap()

    def close(self) -> None:
        """Ends the session, if there is one, and drops connections.

        It can be called again, and raises nothing. If the call does not reach the hub, the
        session ends by itself two minutes after the agent's last call. In a forked process it
        does not end the session that the parent process registered.
        """
        session_id, self.session_id, self.resume_key = self.session_id, None, None
        with contextlib.suppress(HubError, OSError):
            if session_id is not None and self._registered_by == os.getpid():
                path = "/v1/sessions/" + escaped("session_id", session_id)
                self._calls.delete(path, min(self._calls.timeout, _CLOSE_SEC))
        with contextlib.suppress(HubError, OSError):
            self._calls.transport.close()

    # Messages.

    def post(
        self,
        channel: str,
        body: str,
        *,
        kind: str = "chat",
        thread_id: Optional[str] = None,
        to_agent: Optional[str] = None,
        attachments: Optional[list[dict[str, Any]]] = None,
        metadata: Optional[dict[str, Any]] = None,
        reply_to: Optional[int] = None,
        parent_task_id: Optional[int] = None,
    ) -> dict[str, Any]:
        """Posts a message and returns its row once it is on the hub's disk.

        Args:
            channel: An existing channel; with ``to_agent`` only a label.
            body: At most 128,000 characters unless the hub says otherwise.
            kind: artifact, chat, claim, handoff, notice, release, task, task_request
                or task_result.
            thread_id: Thread that the message belongs to.
            to_agent: Makes it a direct message to this agent.
            attachments: At most 32, such as ``{"type": "text", "content": "…"}``.
            metadata: A JSON object.
            reply_to: Id of the message that this answers; a task_result needs it.
            parent_task_id: Task under which a task or task_request is opened.

        Raises:
            HubError: 400 "channel_not_found" if there is no such channel.
        """
        # A message for one agent must not become public because the agent's id is missing.
        return self._post(
            {
                "channel": text("channel", channel),
                "body": body,
                "kind": kind,
                "thread_id": thread_id,
                "to_agent": None if to_agent is None else agent("to_agent", to_agent),
                "attachments": attachments,
                "metadata": metadata,
                "reply_to": reply_to,
                "parent_task_id": parent_task_id,
            }
        )

    def dm(self, to_agent: str, body: str, **options: Any) -> dict[str, Any]:
        """Posts a direct message and returns its row.

        Args:
            to_agent: The recipient; only it, the sender and the operator see the message.
            body: As in post.
            **options: As in post; ``channel`` is a label, "direct" if absent.
        """
        agent("to_agent", to_agent)  # post would take None for a public message
        return self.post(options.pop("channel", "direct"), body, to_agent=to_agent, **options)

    def poll(
        self,
        *,
        exclude_self: bool = True,
        timeout: float = 30.0,
        channel: Optional[str] = None,
        room_id: Optional[str] = None,
        thread_id: Optional[str] = None,
        limit: int = 100,
        max_chars: Optional[int] = None,
    ) -> list[dict[str, Any]]:
        """Waits for messages after the cursor, returns them and moves the cursor.

        There is one cursor: a poll of one channel moves it past older messages of other
        channels, and later polls do not return those. Poll without a scope, or use a client per scope.

        Args:
            exclude_self: Leave out what this agent posted.
            timeout: Seconds to wait, at most ten years; 0 looks once. If a hub that
                has answered this client goes away, for example to restart, the poll waits
                up to five seconds for it.
            channel: Public messages of this channel, and direct messages to the agent.
            room_id: The same for a room; not together with ``channel``. The client's
                own ``room_id`` is not used unless you pass it.
            thread_id: Messages of this thread only.
            limit: Maximum number of rows, 1 to 1000.
            max_chars: Budget of body characters; older bodies beyond it become
                notices with ``truncated``. None means no budget.

        Returns:
            Rows in rising order of ``id``; empty if the time ran out.

        Raises:
            InvalidInput: ``channel`` and ``room_id`` are both given.
            HubError: 409 "store_changed" if the hub serves another store than the cursor's.
                Bootstrap, and go on.
        """
        if channel is not None and room_id is not None:
            raise invalid("room_id", "channel and room_id cannot be given together", "leave one of them out")
        deadline = time.monotonic() + seconds("timeout", timeout)
        query = {
            "agent_id": self.agent_id,
            "exclude_self": "true" if exclude_self else "false",
            "channel": channel,
            "room_id": room_id,
            "thread_id": thread_id,
            "limit": limit,
            "max_chars": max_chars,
        }
        return poll(self._calls, self._cursor, query, deadline)

    def call(
        self,
        to_agent: str,
        body: str,
        *,
        channel: str = "direct",
        timeout: float = 30.0,
        poll_interval: float = 1.0,
        metadata: Optional[dict[str, Any]] = None,
    ) -> dict[str, Any]:
        """Posts a task_request to an agent and returns the task_result that answers it.

        The answer may be a direct message or a public one in ``channel``. It wakes
        the call at once. The client's cursor stays where it is, so that ``poll``
        gives the answer too.

        Args:
            to_agent: The agent that is asked.
            body: Text of the request.
            channel: Label of the request. If it is a channel, the call also looks for a public
                answer there.
            timeout: Seconds for the posting and the wait together. If the hub does not answer,
                the call takes at most one second more.
            poll_interval: Seconds after which the call searches inbox and channel again even if
                nothing woke it.
            metadata: A JSON object in the request.

        Raises:
            HubError: 408 "call_timeout". The request is posted: do not send it again.
                ``detail["request_id"]`` is its id; the answer will be a message with this id as
                ``reply_to``. Other errors that end the wait have the id too. If the ``outcome``
                of an error is "unknown", the hub did not answer the posting: ``resend`` then
                returns the row of the request.
        """
        deadline = time.monotonic() + seconds("timeout", timeout)
        seconds("poll_interval", poll_interval)
        asked = {
            "channel": text("channel", channel),
            "body": body,
            "kind": "task_request",
            "to_agent": agent("to_agent", to_agent),
            "metadata": metadata,
        }
        request = self._post(asked, deadline + GRACE_SEC)
        try:
            return Wait(self._calls, self.agent_id, request, channel, deadline, poll_interval).answer()
        except HubError as e:
            e.detail["request_id"] = request["id"]
            raise

    def get_thread(self, thread_id: str) -> dict[str, Any]:
        """Returns a thread: ``thread, messages, tasks, claims, locks``.

        If lists lack rows, ``more`` names them, each with the call that reads all.

        Args:
            thread_id: As given in the posts.

        Raises:
            HubError: 404 "thread_not_found" if this agent may see nothing of it.
        """
        return self._calls.get("/v1/threads/" + escaped("thread_id", thread_id), {"agent_id": self.agent_id}).row()

    def create_channel(self, name: str, *, metadata: Optional[dict[str, Any]] = None) -> dict[str, Any]:
        """Makes a channel and returns it. A channel that exists stays as it is.

        Args:
            name: At most 200 characters, not beginning with "room-".
            metadata: A JSON object.
        """
        body = {"name": name, "created_by": self.agent_id, "metadata": metadata}
        return self._calls.post("/v1/channels", body).row()

    # Leases and tasks.

    def claim(
        self,
        claim_key: str,
        *,
        thread_id: Optional[str] = None,
        task_message_id: Optional[int] = None,
        ttl_sec: int = 300,
        metadata: Optional[dict[str, Any]] = None,
    ) -> dict[str, Any]:
        """Asks for a lease on a name and returns its holder's row.

        It is no error when another agent holds the claim: compare ``owner_agent_id`` with
        your own id.

        Args:
            claim_key: At most 200 characters.
            thread_id: Thread that the work belongs to.
            task_message_id: Task that the claim is for.
            ttl_sec: Seconds until the claim ends unless it is refreshed, 1 to 86400.
            metadata: A JSON object.

        Returns:
            The holder's row. Its ``fence`` rises with every grant. Pass it to what the lease
            protects.
        """
        body = {
            "owner_agent_id": self.agent_id,
            "claim_key": claim_key,
            "thread_id": thread_id,
            "task_message_id": task_message_id,
            "ttl_sec": ttl_sec,
            "metadata": metadata,
        }
        return self._calls.post("/v1/claims", body).row()

    def refresh_claim(self, claim_key: str, ttl_sec: int = 300) -> dict[str, Any]:
        """Renews a claim that this agent holds and returns its row.

        Args:
            claim_key: The key given to claim.
            ttl_sec: Seconds left from now on, 1 to 86400.

        Raises:
            HubError: 404 "not_holder" if the claim is free, expired or another agent's.
        """
        body = {"owner_agent_id": self.agent_id, "claim_key": claim_key, "ttl_sec": ttl_sec}
        return self._calls.post("/v1/claims/refresh", body).row()

    def release(self, claim_key: str) -> dict[str, Any]:
        """Gives a claim back and returns its last row.

        Args:
            claim_key: The key given to claim.

        Raises:
            HubError: 404 "not_holder" if the claim is free, expired or another agent's.
        """
        body = {"owner_agent_id": self.agent_id, "claim_key": claim_key}
        return self._calls.post("/v1/claims/release", body).row()

    def lock(self, file_path: str, ttl_sec: int = 300, metadata: Optional[dict[str, Any]] = None) -> dict[str, Any]:
        """Asks for a lease on a file and returns its holder's row.

        The lease is advice: it stops no program from writing the file. It is no error when
        another agent holds the lock: compare ``agent_id`` with your own.

        Args:
            file_path: At most 1024 characters; agents must agree on a root.
            ttl_sec: Seconds until the lock ends, 1 to 86400.
            metadata: A JSON object.
        """
        body = {"file_path": file_path, "agent_id": self.agent_id, "ttl_sec": ttl_sec, "metadata": metadata}
        return self._calls.post("/v1/locks", body).row()

    def unlock(self, file_path: str) -> dict[str, Any]:
        """Gives a file lock back and returns its last row.

        Args:
            file_path: The path given to lock.

        Raises:
            HubError: 404 "not_holder" if the lock is free, expired or another agent's.
        """
        return self._calls.post("/v1/locks/release", {"file_path": file_path, "agent_id": self.agent_id}).row()

    def complete_task(self, task_id: int) -> dict[str, Any]:
        """Completes a task and returns its row. A task that is done stays as it is.

        Args:
            task_id: Id of the message that opened the task. If the task is the last open child
                of its parent, the hub completes the parent too, and so on upward.

        Raises:
            HubError: 404 "task_not_found"; 409 "task_closed" if the task has failed or
                was cancelled.
        """
        if isinstance(task_id, bool) or not isinstance(task_id, int) or task_id < 1:
            raise invalid("task_id", "task_id is not the id of a message")
        return self._calls.post(f"/v1/tasks/{task_id}/complete", {"agent_id": self.agent_id}).row()

    # What the methods share.

    def _post(self, message: Mapping[str, Any], until: float = math.inf) -> dict[str, Any]:
        return self._calls.post("/v1/messages", {"from_agent": self.agent_id, **message}, until).row("id")

    def _adopt(self, row: Mapping[str, Any]) -> None:
        self.session_id, self.resume_key = row["session_id"], row.get("resume_key")
        self._registered_by = os.getpid()
