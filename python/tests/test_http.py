"""The HTTP transport: addresses, connections, broken servers, threads and forks."""

import json
import os
import select
import socket
import sys
import threading
import time

import pytest

from conftest import WAIT_SEC, free_port, raw_get, read_request, until
from hubclient import HttpTransport, HubClient, HubError, InvalidInput, Request

GOOD = {"ok": True, "result": {"latest_visible_id": 7, "room_id": None, "agent_id": "a"}}


def answer(status, body, *headers):
    head = [f"HTTP/1.1 {status} X", "Content-Type: application/json", f"Content-Length: {len(body)}", *headers, "", ""]
    return "\r\n".join(head).encode() + body


def good(*headers):
    return answer(200, json.dumps(GOOD).encode(), *headers)


def failing(url, timeout=5.0):
    """Makes one read and returns its error."""
    with HubClient("a", url, timeout) as c, pytest.raises(HubError) as caught:
        c.bootstrap()
    e = caught.value
    assert e.fix
    assert e.fix in str(e)
    assert e.status == 0
    return e


# Addresses.


@pytest.mark.parametrize(
    "url",
    [
        "", "127.0.0.1:6969", "ftp://127.0.0.1", "http://", "http:///v1", "http://u:p@127.0.0.1:1", "http://127.0.0.1:1?x=1",
        "http://127.0.0.1:1#x", "http://127.0.0.1:99999", "http://127.0.0.1:0", "http://127.0.0.1:x", "http://[::1",
        "http://a b", "http://127.0.0.1\r\nX: y", "http://127.0.0.1/\r\n", "http://hüb", "http://127.0.0.1:1/a?b",
        "http://127.0.0.1/../x y", None, 5, "http://[::1%25eth0]:1", "http://127.0.0.1\\@evil",
    ],
)  # fmt: skip
def test_an_address_that_is_none_is_refused(url):
    with pytest.raises(InvalidInput) as caught:
        HubClient("a", url)
    assert caught.value.detail == {"field": "base_url"}
    assert "http://127.0.0.1:6969" in caught.value.fix


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("http://127.0.0.1:6969", "http://127.0.0.1:6969"),
        ("http://127.0.0.1:6969/", "http://127.0.0.1:6969"),
        ("HTTP://LocalHost/hub/", "http://LocalHost/hub"),
        ("https://hub.example:8443", "https://hub.example:8443"),
        ("http://[::1]:7", "http://[::1]:7"),
    ],
)
def test_an_address_is_shown_without_its_last_slash(url, shown):
    assert HttpTransport(url).base_url == shown


def test_host_header_and_prefix(server):
    heads = []

    def serve(connection):
        heads.append(read_request(connection)[0])
        connection.sendall(good())

    s = server(serve, family=socket.AF_INET6, host="::1")
    with HubClient("a", s.url + "/hub/") as c:
        c.bootstrap()
    assert heads[0].startswith("GET /hub/v1/bootstrap?agent_id=a HTTP/1.1\r\n")
    assert f"\r\nHost: [::1]:{s.port}\r\n" in heads[0]


def test_ipv6_hub(executable, tmp_path, name):
    from hubclient import HubConfig, create_server

    with create_server(
        HubConfig(host="::1", port=free_port(socket.AF_INET6, "::1"), storage=tmp_path / "s"), executable=executable
    ) as hub:
        assert hub.url.startswith("http://[::1]:")
        with HubClient.quickstart(name("six"), hub.url) as c:
            assert c.post("general", "x")["id"] == 1


def test_proxies_of_the_environment_are_not_used(hub, name, monkeypatch):
    for variable in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(variable, f"http://127.0.0.1:{free_port()}")
    with HubClient(name("a"), hub.url) as c:
        assert c.bootstrap()["latest_visible_id"] >= 0


# What is sent.


def test_a_call_is_one_packet_and_shows_no_session(server):
    seen = []

    def serve(connection):
        while True:
            if not select.select([connection], [], [], WAIT_SEC)[0]:
                return
            packet = connection.recv(1 << 20)
            if not packet:
                return
            seen.append(packet)
            row = {"session_id": "s1.SECRET", "resume_key": "KEY", "agent_id": "a", "id": 1}
            connection.sendall(answer(201, json.dumps({"ok": True, "result": row}).encode()))

    s = server(serve)
    with HubClient("a", s.url) as c:
        c.register()
        c.post("general", "x" * 1000)
        c.claim("k")
        assert s.accepted == 1
        assert len(seen) == 3
        for packet in seen:
            head, _, body = packet.partition(b"\r\n\r\n")
            assert b"x-hub-session" not in head.lower()
            assert b"Idempotency-Key: " in head
            assert json.loads(body)
            assert b"SECRET" not in packet
        keys = {p.partition(b"Idempotency-Key: ")[2].partition(b"\r\n")[0] for p in seen}
        assert len(keys) == 3


def test_headers_of_an_integration_are_sent_with_every_call(server):
    heads = []

    def serve(connection):
        while (request := read_request(connection)) is not None:
            heads.append(request[0])
            connection.sendall(good())

    s = server(serve)
    transport = HttpTransport(s.url, headers={"X-Hub-Session": "s1.secret"})
    with HubClient("a", transport=transport) as c:
        c.bootstrap()
        c.bootstrap()
        assert "secret" not in repr(c) + repr(transport)
    assert all("\r\nX-Hub-Session: s1.secret\r\n" in head for head in heads)
    assert len(heads) == 2


def test_an_integration_proves_its_session(hub, registered):
    c = registered()
    with HubClient(c.agent_id, transport=HttpTransport(hub.url, headers={"X-Hub-Session": c.session_id})) as proved:
        assert proved.post("general", "x")["assurance"] == "session"
    assert c.post("general", "x")["assurance"] == "asserted"


@pytest.mark.parametrize(
    "headers",
    [
        {"X": "a\r\nY: b"},
        {"X\r\n": "a"},
        {"": "a"},
        {"X Y": "a"},
        {"X": "é"},
        {"X": 1},
        {"Host": "x"},
        {"content-length": "0"},
    ],
)
def test_headers_that_are_none_are_refused(headers):
    with pytest.raises(InvalidInput):
        HttpTransport(headers=headers)


def test_a_request_does_not_print_its_secrets():
    shown = repr(Request("DELETE", "/v1/sessions/s1.secret", b'{"resume_key":"secret"}', "key"))
    assert "secret" not in shown


# Nobody, or somebody else, answers.


def test_nobody_listens():
    port = free_port()
    e = failing(f"http://127.0.0.1:{port}")
    assert (e.code, e.fix) == ("unreachable", f"start one with: hubcli ensure --port {port}")
    assert "no hub answers at" in e.error


def test_a_write_that_nobody_took_is_not_of_unknown_outcome():
    with HubClient("a", f"http://127.0.0.1:{free_port()}") as c, pytest.raises(HubError) as caught:
        c.post("general", "x")
    assert "outcome" not in caught.value.detail


@pytest.mark.parametrize(
    ("code", "sent"),
    [
        ("not_a_hub", b"SSH-2.0-OpenSSH_9.6\r\n"),
        ("not_a_hub", b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\nhi"),
        ("not_a_hub", answer(200, b"not json")),
        ("not_a_hub", answer(200, b"[]")),
        ("not_a_hub", answer(200, b"{}")),
        ("not_a_hub", answer(200, b'{"ok":"yes"}')),
        ("not_a_hub", answer(200, b'{"ok":true}')),
        ("not_a_hub", answer(200, b'{"ok":true,"result":[]}')),
        ("not_a_hub", answer(200, b"\xff\xfe{")),
        ("not_a_hub", answer(200, b"[" * 200_000)),
        ("not_a_hub", answer(302, b"", "Location: http://127.0.0.1:1/")),
        ("not_a_hub", b"HTTP/1.1 200 OK\r\nX: " + b"x" * 100_000 + b"\r\n\r\n"),
        ("not_a_hub", b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 200 + b"\r\n"),
        ("broke_off", b""),
        ("broke_off", b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{"),
        ("broke_off", b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"),
    ],
)
def test_what_is_no_hub(server, code, sent):
    def serve(connection):
        read_request(connection)
        connection.sendall(sent)
        connection.shutdown(socket.SHUT_WR)

    assert failing(server(serve).url).code == code


def test_a_redirect_is_not_followed(server):
    asked = server(lambda connection: read_request(connection) and connection.sendall(good()))

    def serve(connection):
        read_request(connection)
        connection.sendall(answer(307, b'{"moved":true}', f"Location: {asked.url}/v1/bootstrap"))

    assert failing(server(serve).url).code == "not_a_hub"
    assert asked.accepted == 0


def test_rows_of_another_shape_are_no_rows(server):
    for body in (
        {"ok": True, "result": {}},
        {"ok": True, "result": [1], "next_since_id": 1},
        {"ok": True, "result": [{"id": "1"}], "next_since_id": 1},
        {"ok": True, "result": []},
    ):

        def serve(connection, body=body):
            read_request(connection)
            connection.sendall(answer(200, json.dumps(body).encode()))

        with HubClient("a", server(serve).url) as c, pytest.raises(HubError) as caught:
            c.poll(timeout=0)
        assert caught.value.code == "not_a_hub"
        assert c.cursor == 0


def test_silence_ends_with_the_timeout(server):
    released = threading.Event()
    s = server(lambda connection: released.wait(WAIT_SEC))
    try:
        began = time.monotonic()
        with HubClient("a", s.url, 0.3) as c:
            with pytest.raises(HubError) as read:
                c.bootstrap()
            with pytest.raises(HubError) as write:
                c.post("general", "x")
        assert 0.6 <= time.monotonic() - began < 5
    finally:
        released.set()
    assert read.value.code == write.value.code == "no_answer"
    assert "outcome" not in read.value.detail
    assert write.value.detail["outcome"] == "unknown"
    assert write.value.detail["idempotency_key"]
    assert "unknown" in str(write.value)
    assert s.accepted == 2  # a call without an answer is not repeated


def test_dripping_bytes_do_not_prolong_the_timeout(server):
    released = threading.Event()

    def serve(connection):
        read_request(connection)
        for byte in good():
            connection.sendall(bytes([byte]))
            if released.wait(0.05):
                return

    try:
        began = time.monotonic()
        assert failing(server(serve).url, 0.4).code == "no_answer"
        assert time.monotonic() - began < 3
    finally:
        released.set()


def test_a_call_without_time_left_is_not_answered(hub):
    transport = HttpTransport(hub.url)
    with pytest.raises(HubError) as caught:
        transport.send(Request("GET", "/v1/hub-info", timeout=-1.0))
    assert caught.value.code == "no_answer"
    assert transport.send(Request("GET", "/v1/hub-info")).status == 200
    transport.close()


def test_a_tls_address_of_a_hub_without_tls(hub):
    assert failing(hub.url.replace("http:", "https:")).code in ("not_a_hub", "broke_off")


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
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
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
        pytest.skip("Windows has no such limit")
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 1200:
        pytest.skip("this system allows too few open files")
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
