"""Connections that break, hubs that die, threads and forks."""

import json
import os
import socket
import sys
import threading
import time

import pytest

from conftest import WAIT_SEC, raw_get, read_request, until
from hubclient import HubClient, HubError
from test_http import GOOD, answer, good

# Where connections come from.


def own_address():
    """An address of this machine that is not its loopback; empty if there is none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        try:
            s.connect(("192.0.2.1", 9))  # sends nothing
        except OSError:
            return ""
        return s.getsockname()[0]


@pytest.mark.skipif(
    sys.platform == "win32", reason="needs another system than Windows, which does not let calls from loopback out"
)
def test_calls_of_this_machine_come_from_loopback(server):
    address = own_address()
    if not address or address.startswith("127."):
        pytest.skip("needs an address of the machine beside loopback")
    peers = []

    def serve(connection):
        peers.append(connection.getpeername()[0])
        while read_request(connection) is not None:
            connection.sendall(good())

    stand_in = server(serve, host=address)
    with HubClient("a", stand_in.url) as me:
        me.bootstrap()
    assert peers == ["127.0.0.1"]
    stand_in.stop_listening()
    with HubClient("a", stand_in.url) as me, pytest.raises(HubError) as refused:
        me.bootstrap()
    assert refused.value.code == "unreachable"


# Connections that break.


class Proxy:
    """Carries connections to the hub, and cuts them where it is told."""

    def __init__(self, server, port, cut):
        self._port = port
        self._cut = cut  # after which requests, counted from 1, the answer is thrown away
        self.requests = []
        self._lock = threading.Lock()
        self.server = server(self._serve)
        self.url = self.server.url

    def _serve(self, connection):
        with socket.create_connection(("127.0.0.1", self._port), WAIT_SEC) as hub:
            while (request := read_request(connection)) is not None:
                head, body = request
                with self._lock:
                    self.requests.append(head)
                    number = len(self.requests)
                head = head.replace(f":{self.server.port}", f":{self._port}")  # the hub looks at Host
                hub.sendall(head.encode() + b"\r\n\r\n" + body)
                whole = self._answer(hub)
                if number in self._cut:
                    return
                connection.sendall(whole)

    @staticmethod
    def _answer(hub):
        data = hub.recv(65536)
        head, _, body = data.partition(b"\r\n\r\n")
        for line in head.split(b"\r\n"):
            if line.lower().startswith(b"content-length:"):
                missing = int(line.split(b":")[1]) - len(body)
                while missing > 0:
                    part = hub.recv(65536)
                    data += part
                    missing -= len(part)
        return data


def keys_of(heads):
    return [h.partition("Idempotency-Key: ")[2].partition("\r\n")[0] for h in heads]


def test_a_write_whose_connection_drops_is_sent_again_and_done_once(hub, server, name):
    proxy, thread = Proxy(server, hub.port, cut={1}), name("thread")
    with HubClient(name("a"), proxy.url) as c:
        row = c.post("general", "once", thread_id=thread)
    stored = raw_get(f"{hub.url}/v1/messages?thread_id={thread}")["result"]
    assert [m["id"] for m in stored] == [row["id"]]
    first, second = keys_of(proxy.requests)
    assert first == second != ""


def test_a_write_whose_connection_drops_twice_is_of_unknown_outcome(hub, server, name):
    proxy, thread = Proxy(server, hub.port, cut={1, 2}), name("thread")
    with HubClient(name("a"), proxy.url) as c, pytest.raises(HubError) as caught:
        c.post("general", "once", thread_id=thread)
    e = caught.value
    assert (e.code, e.detail["outcome"]) == ("broke_off", "unknown")
    assert [e.detail["idempotency_key"]] * 2 == keys_of(proxy.requests)
    assert len(raw_get(f"{hub.url}/v1/messages?thread_id={thread}")["result"]) == 1


def test_a_write_that_was_lost_stays_of_unknown_outcome_when_nobody_answers_any_more(server):
    """The second error alone would mean that nothing was sent."""

    def serve(connection):
        read_request(connection)
        s.stop_listening()

    s = server(serve)
    with HubClient("a", s.url) as c, pytest.raises(HubError) as caught:
        c.post("general", "x")
    e = caught.value
    assert (e.code, e.detail["outcome"]) == ("unreachable", "unknown")
    assert e.detail["idempotency_key"]


def test_a_write_that_was_lost_stays_of_unknown_outcome_when_the_hub_stops(server):
    heads = []

    def serve(connection):
        heads.append(read_request(connection))
        if len(heads) == 2:
            stopping = {"ok": False, "error": "stopping", "code": "stopping", "status": 503}
            connection.sendall(answer(503, json.dumps(stopping).encode()))

    with HubClient("a", server(serve).url) as c, pytest.raises(HubError) as caught:
        c.post("general", "x")
    assert (caught.value.code, caught.value.detail["outcome"]) == ("stopping", "unknown")


def test_a_broken_connection_takes_the_idle_ones_with_it(server):
    """They were opened before it, so that a repetition over one of them would be spent."""
    together, dead = threading.Barrier(2), threading.Event()

    def serve(connection):
        old = not dead.is_set()
        while read_request(connection) is not None:
            if dead.is_set() and old:
                return  # like a hub that has just died
            if old:
                together.wait(WAIT_SEC)
            connection.sendall(good())

    s = server(serve)
    with HubClient("a", s.url) as c:
        threads = [threading.Thread(target=c.bootstrap) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(WAIT_SEC)
        assert (s.accepted, len(c._calls.transport._idle)) == (2, 2)
        dead.set()
        assert c.bootstrap()["latest_visible_id"] == 7
        assert s.accepted == 3


def test_close_does_not_wait_long_for_a_silent_hub(server, monkeypatch):
    import hubclient.client

    assert hubclient.client._CLOSE_SEC == 5.0
    monkeypatch.setattr(hubclient.client, "_CLOSE_SEC", 0.2)
    released = threading.Event()

    def serve(connection):
        while (request := read_request(connection)) is not None:
            if request[0].startswith("DELETE"):
                released.wait(WAIT_SEC)
                return
            row = {"session_id": "s1.x", "resume_key": "k"}
            connection.sendall(answer(201, json.dumps({"ok": True, "result": row}).encode()))

    c = HubClient("a", server(serve).url, timeout=10)
    c.register()
    began = time.monotonic()
    try:
        c.close()
    finally:
        released.set()
    assert time.monotonic() - began < 5


def test_a_refusal_after_a_dropped_connection_is_a_refusal(hub, server, name):
    proxy = Proxy(server, hub.port, cut={1})
    with HubClient(name("a"), proxy.url) as c, pytest.raises(HubError) as caught:
        c.post("no-such-channel", "x")
    assert caught.value.code == "channel_not_found"
    assert "outcome" not in caught.value.detail


def test_a_failure_of_the_hub_leaves_the_outcome_unknown(server):
    def serve(connection):
        while read_request(connection) is not None:
            connection.sendall(answer(503, b'{"ok":false,"error":"x","code":"timed_out","status":503}'))

    with HubClient("a", server(serve).url) as c:
        with pytest.raises(HubError) as write:
            c.post("general", "x")
        with pytest.raises(HubError) as read:
            c.bootstrap()
    assert write.value.detail["outcome"] == "unknown"
    assert read.value.detail == {}


def test_a_read_whose_connection_drops_is_repeated(hub, server, name):
    proxy = Proxy(server, hub.port, cut={2})
    with HubClient(name("a"), proxy.url) as c:
        c.bootstrap()
        c.bootstrap()
    assert len(proxy.requests) == 3


def test_a_registration_whose_answer_was_lost_has_its_secrets(hub, server, name):
    proxy = Proxy(server, hub.port, cut={1})
    with HubClient(name("a"), proxy.url) as c:
        c.register()
        with HubClient.resume_mcp_identity(c.session_id, c.resume_key, hub.url) as again:
            assert again.bootstrap()["session"]["incarnation"] == 2


def test_a_connection_is_used_again(hub, server, name):
    proxy = Proxy(server, hub.port, cut=set())
    with HubClient(name("a"), proxy.url) as c:
        for _ in range(5):
            c.post("general", "x")
    assert proxy.server.accepted == 1


def test_a_connection_that_the_hub_has_closed_is_not_used(server):
    closed = threading.Event()

    def serve(connection):
        read_request(connection)
        connection.sendall(good())
        connection.shutdown(socket.SHUT_RDWR)
        connection.close()
        closed.set()

    s = server(serve)
    with HubClient("a", s.url) as c:
        c.bootstrap()
        assert closed.wait(WAIT_SEC)
        idle = c._calls.transport._idle
        until(lambda: not idle[0].usable(), "the end of the connection")
        # Not even tried: a write on it would look like one that was lost.
        c.bootstrap()
    assert s.accepted == 2


def test_an_old_connection_is_not_used(hub, server, name, monkeypatch):
    import hubclient.transport

    proxy = Proxy(server, hub.port, cut=set())
    with HubClient(name("a"), proxy.url) as c:
        c.bootstrap()
        monkeypatch.setattr(hubclient.transport, "_IDLE_SEC", -1.0)
        c.bootstrap()
    assert proxy.server.accepted == 2


@pytest.mark.parametrize(
    ("envelope", "header", "requests"),
    [
        ({"code": "in_progress", "status": 409}, "X: y", 3),
        ({"code": "overloaded", "status": 503}, "Retry-After: 0", 1),
        ({"code": "overloaded", "status": 503}, "Retry-After: 99", 1),
        ({"code": "overloaded", "status": 503}, "Retry-After: x", 1),
        ({"code": "stopping", "status": 503}, "Retry-After: 1", 1),
        ({"code": "invalid", "status": 400}, "Retry-After: 1", 1),
    ],
)
def test_what_is_repeated(server, envelope, header, requests):
    heads = []

    def serve(connection):
        while (request := read_request(connection)) is not None:
            heads.append(request[0])
            body = json.dumps({"ok": False, "error": "no", "fix": "", "detail": {}, **envelope}).encode()
            connection.sendall(answer(envelope["status"], body, header))

    with HubClient("a", server(serve).url) as c, pytest.raises(HubError) as caught:
        c.post("general", "x")
    assert caught.value.code == envelope["code"]
    assert len(heads) == requests
    assert len(set(keys_of(heads))) == 1


def test_a_busy_hub_is_asked_again(server):
    heads = []

    def serve(connection):
        while (request := read_request(connection)) is not None:
            heads.append(request[0])
            busy = {"ok": False, "error": "busy", "code": "overloaded", "status": 503}
            connection.sendall(answer(503, json.dumps(busy).encode(), "Retry-After: 1") if len(heads) == 1 else good())

    with HubClient("a", server(serve).url) as c:
        began = time.monotonic()
        c.bootstrap()
        assert time.monotonic() - began >= 1
    assert len(heads) == 2


# The hub dies and comes back.


def test_a_hub_that_was_killed_and_started_again(own_hub, name):
    me = name("a")
    with HubClient.quickstart(me, own_hub.url) as c:
        rows = [c.post("general", "before")]
        own_hub.kill()
        with pytest.raises(HubError) as caught:
            c.post("general", "meanwhile")
        assert caught.value.code == "unreachable"
        own_hub.start()
        rows.append(c.post("general", "after"))
        assert c.poll(timeout=0, exclude_self=False) == rows
        assert c.bootstrap()["session"]["active"]


def test_a_store_that_was_replaced_is_noticed(own_hub, name):
    from hubclient import reset_hub

    with HubClient(name("a"), own_hub.url) as c:
        for _ in range(5):
            c.post("general", "old")
        c.bootstrap()
        assert c.cursor == 5
        reset_hub(own_hub.storage, port=own_hub.port, executable=own_hub._executable)
        own_hub.stop()
        own_hub.start()
        c.post("general", "new")
        with pytest.raises(HubError) as caught:
            c.poll(timeout=20, exclude_self=False)
        assert (caught.value.code, caught.value.status) == ("store_changed", 409)
        c.bootstrap()
        assert c.cursor == 1
        c.post("general", "newer")
        assert [m["body"] for m in c.poll(timeout=5, exclude_self=False)] == ["newer"]


# Threads and forks.


def test_a_parked_poll_delays_no_post(registered, background):
    c, other = registered(), registered("other")
    joined = background(lambda: c.poll(timeout=WAIT_SEC, exclude_self=True, channel="direct"))
    for _ in range(3):
        c.post("general", "while it waits")
    other.dm(c.agent_id, "wake")
    assert [m["body"] for m in joined()] == ["wake"]


def test_posts_of_many_threads_are_all_there_once(client, background, name):
    c, channel = client(), name("channel")
    c.create_channel(channel)
    joined = [background(lambda t=t: [c.post(channel, f"{t}.{i}")["id"] for i in range(25)]) for t in range(8)]
    ids = [i for join in joined for i in join()]
    rows = []
    while len(rows) < 200:
        page = c.poll(channel=channel, exclude_self=False, timeout=5)
        assert page
        rows += page
    assert [m["id"] for m in rows] == sorted(ids)
    assert {m["body"] for m in rows} == {f"{t}.{i}" for t in range(8) for i in range(25)}
    assert len(c._calls.transport._idle) <= 8


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # the warning is what the test is about
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a system that forks")
def test_a_fork_has_connections_of_its_own_and_leaves_the_session_alone(hub, server, name):
    proxy = Proxy(server, hub.port, cut=set())
    with HubClient.quickstart(name("parent"), proxy.url) as c:
        program_ended = False
        pid = os.fork()
        if pid == 0:
            try:
                for _ in range(3):
                    c.post("general", "child")
                c.close()
                program_ended = True
            finally:
                os._exit(0 if program_ended else 1)
        for _ in range(3):
            c.post("general", "parent")
        _, status = os.waitpid(pid, 0)
        assert status == 0
        assert c.bootstrap()["session"] is not None
        assert proxy.server.accepted == 2


def test_an_interrupt_leaves_no_half_read_answer(server, monkeypatch):
    """Ctrl-C in the middle of a call: the next call must not read the rest of its answer."""
    count = []

    def serve(connection):
        while read_request(connection) is not None:
            count.append(1)
            row = {**GOOD, "result": {**GOOD["result"], "number": len(count)}}
            connection.sendall(answer(200, json.dumps(row).encode()))

    import hubclient.transport

    with HubClient("a", server(serve).url) as c:
        real = hubclient.transport._Reader.readinto

        def interrupted(reader, buffer):
            monkeypatch.setattr(hubclient.transport._Reader, "readinto", real)
            raise KeyboardInterrupt

        monkeypatch.setattr(hubclient.transport._Reader, "readinto", interrupted)
        with pytest.raises(KeyboardInterrupt):
            c.bootstrap()
        until(lambda: len(count) == 1, "the first answer")
        assert c.bootstrap()["number"] == 2


def test_many_open_files_do_not_hinder(hub, name):
    """select() knows file descriptors below 1024 only."""
    if sys.platform == "win32":
        pytest.skip("needs another system than Windows, which has no such limit")
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 1200:
        pytest.skip("needs a system that allows more open files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 1200), hard))
    files = [os.open(os.devnull, os.O_RDONLY) for _ in range(1050)]
    try:
        with HubClient(name("a"), hub.url) as c:
            assert c.bootstrap()
            assert c.bootstrap()
            assert c._calls.transport._idle[0]._sock.fileno() > 1024
    finally:
        for fd in files:
            os.close(fd)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_refusal_that_comes_before_all_was_sent_is_read(client):
    """The hub answers a request that is too large without reading it to its end."""
    c = client()
    with pytest.raises(HubError) as caught:
        c.create_channel("x" * 50_000_000)
    assert (caught.value.code, caught.value.status) == ("request_too_large", 413)
    assert c.post("general", "still here")["id"]
