"""The HTTP transport: addresses, connections, broken servers, threads and forks."""

import json
import select
import socket
import threading
import time

import pytest

from conftest import WAIT_SEC, free_port, read_request
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
        ("HTTP://LocalHost/hub/", "http://localhost/hub"),
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


def test_a_row_without_what_the_client_needs_is_no_row(server):
    def serve(connection):
        while read_request(connection) is not None:
            connection.sendall(answer(201, b'{"ok":true,"result":{}}'))

    url = server(serve).url
    with HubClient("a", url) as c:
        for call in (c.register, lambda: c.post("general", "x"), lambda: HubClient.resume_mcp_identity("s", "k", url)):
            with pytest.raises(HubError) as caught:
                call()
            assert caught.value.code == "not_a_hub"
