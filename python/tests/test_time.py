"""How long polls and calls take when the hub is silent, gone or starting again."""

import json
import os
import time
import urllib.parse

import pytest

from conftest import WAIT_SEC, free_port, until
from hubclient import HubClient, HubError, RelayTransport, Request, create_relay
from test_connections import Proxy
from test_http import answer, good
from test_relay import files, forwarder, relayed  # noqa: F401 - fixtures

NOT_WINDOWS = pytest.mark.skipif(os.name == "nt", reason="needs another system than Windows, which has no such signals")
SOON = 12.0  # seconds; far less than the timeouts of the clients here, which are 30


def fails(call, *args, **options):
    began = time.monotonic()
    with pytest.raises(HubError) as caught:
        call(*args, **options)
    return caught.value, time.monotonic() - began


# call() ends with its time.


def test_a_call_that_no_forwarder_takes(tmp_path):
    with HubClient.over_relay("a", str(tmp_path)) as c:
        e, took = fails(c.call, "b", "?", timeout=0.2)
    assert took < SOON
    assert (e.code, e.detail["outcome"]) == ("relay_timeout", "none")
    assert files(tmp_path) == []


def test_a_call_whose_forwarder_goes_away(forwarder, relayed, name):  # noqa: F811
    real = forwarder.reply
    forwarder.reply = lambda request: real(request) if request["method"] == "POST" else None
    c = relayed()
    e, took = fails(c.call, name("b"), "?", timeout=2)
    assert took < SOON
    assert (e.code, e.status) == ("call_timeout", 408)
    assert e.detail["request_id"] > 0


def test_the_relay_waits_no_longer_than_a_request_is_bound(tmp_path):
    request = Request("GET", "/v1/events", wait=20.0, timeout=25.0, bound=0.2)
    _, took = fails(RelayTransport("a", tmp_path).send, request)
    assert took < SOON


@NOT_WINDOWS
def test_a_call_to_a_silent_hub_carries_its_key(own_hub, name):
    with HubClient(name("a"), own_hub.url, timeout=30) as c, own_hub.suspended():
        e, took = fails(c.call, name("b"), "?", timeout=1)
        assert took < SOON
        assert (e.code, e.detail["outcome"]) == ("no_answer", "unknown")
        assert e.detail["idempotency_key"]


@NOT_WINDOWS
def test_a_call_whose_hub_falls_silent(own_hub, name, background):
    with HubClient(name("a"), own_hub.url, timeout=30) as c:
        joined = background(lambda: fails(c.call, name("b"), "?", timeout=2))
        until(lambda: own_hub.parked() > 0, "the wait for the answer")
        with own_hub.suspended():
            e, took = joined()
    assert took < 2 + SOON / 2
    assert (e.code, e.status) == ("call_timeout", 408)
    assert e.detail["request_id"] > 0


def test_a_call_to_a_busy_hub_makes_no_pause_beyond_its_time(server):
    def serve(connection):
        from conftest import read_request

        while read_request(connection) is not None:
            busy = {"ok": False, "error": "busy", "code": "overloaded", "status": 503}
            connection.sendall(answer(503, json.dumps(busy).encode(), "Retry-After: 5"))

    with HubClient("a", server(serve).url) as c:
        e, took = fails(c.call, "b", "?", timeout=1)
    assert took < SOON
    assert e.code == "overloaded"


# poll() ends with its time, and rides through a restart.


def waits(heads):
    """The waits that the polls among these requests asked for."""
    paths = [head.split(" ")[1] for head in heads]
    return [float(urllib.parse.parse_qs(p.partition("?")[2])["timeout"][0]) for p in paths if "/v1/events" in p]


def test_a_poll_whose_connection_drops_waits_for_the_rest_of_its_time(hub, server, name):
    proxy = Proxy(server, hub.port, cut={2})
    with HubClient(name("a"), proxy.url) as c:
        c.bootstrap()
        began = time.monotonic()
        assert c.poll(timeout=3, thread_id=name("silence")) == []
        assert time.monotonic() - began >= 3
    first, second = waits(proxy.requests)
    assert 2 < first <= 3
    assert second < 1  # the answer that was lost came when the time was over


@pytest.mark.parametrize("since", [999, 1000, 20_000])
def test_a_look_goes_on_where_the_hub_has_examined_enough_for_once(server, since):
    """The hub examines a bounded number of rows, finds none, and says how far it came."""
    from conftest import read_request

    heads = []

    def serve(connection):
        while (request := read_request(connection)) is not None:
            heads.append(request[0])
            pages = [([], since), ([{"id": since + 1}], since + 1)]
            rows, next_since = pages[len(heads) - 1]
            body = json.dumps({"ok": True, "result": rows, "next_since_id": next_since})
            connection.sendall(answer(200, body.encode()))

    with HubClient("a", server(serve).url) as c:
        assert c.poll(timeout=0) == ([] if since < 1000 else [{"id": since + 1}])
    assert all(f"since_id={n}&" in head for n, head in zip((0, since), heads))


def test_a_poll_of_a_busy_hub(server):
    from conftest import read_request

    heads = []

    def serve(connection):
        while (request := read_request(connection)) is not None:
            heads.append(request[0])
            busy = {"ok": False, "error": "busy", "code": "overloaded", "status": 503}
            rows = {"ok": True, "result": [{"id": 8}], "next_since_id": 8}
            answers = [
                good(),
                answer(503, json.dumps(busy).encode(), "Retry-After: 1"),
                answer(200, json.dumps(rows).encode()),
            ]
            connection.sendall(answers[len(heads) - 1])

    with HubClient("a", server(serve).url) as c:
        c.bootstrap()
        assert c.poll(timeout=WAIT_SEC) == [{"id": 8}]
    first, second = waits(heads)
    assert first - second >= 1


@NOT_WINDOWS
@pytest.mark.parametrize("over", ["http", "relay"])
def test_a_poll_rides_through_a_restart(own_hub, name, background, executable, tmp_path, over):
    me = name("a")
    spool = tmp_path / "spool"
    with create_relay(spool, own_hub.url, executable=executable), HubClient(name("b"), own_hub.url) as other:
        c = HubClient.over_relay(me, str(spool)) if over == "relay" else HubClient(me, own_hub.url)
        with c:
            c.bootstrap()
            joined = background(lambda: c.poll(timeout=WAIT_SEC))
            until(lambda: own_hub.parked() > 0, "the poll")
            own_hub.kill()
            own_hub.start()
            posted = other.post("general", "after all")
            assert joined() == [posted]


def test_a_forwarders_word_that_the_hub_is_away_is_ridden_through(forwarder, relayed, name):  # noqa: F811
    c, other = relayed(), relayed("other")
    c.bootstrap()
    posted = other.dm(c.agent_id, "after all")
    real, away = forwarder.reply, []

    def reply(request):
        if len(away) < 3:
            away.append(request)
            envelope = {"ok": False, "error": "away", "code": "unreachable", "status": 599}
            return {"request_id": request["request_id"], "ok": False, "status": 599, "body": envelope}
        return real(request)

    forwarder.reply = reply
    assert c.poll(timeout=WAIT_SEC, channel="direct") == [posted]
    assert len(away) == 3


def test_a_poll_waits_for_a_hub_that_is_away_for_a_while_only(own_hub, name, monkeypatch):
    import hubclient.feed

    monkeypatch.setattr(hubclient.feed, "_ABSENCE_SEC", 0.5)
    with HubClient(name("a"), own_hub.url) as c:
        c.bootstrap()
        own_hub.kill()
        e, took = fails(c.poll, timeout=WAIT_SEC)
        assert e.code == "unreachable"
        assert 0.3 < took < SOON
        monkeypatch.setattr(hubclient.feed, "_ABSENCE_SEC", 60.0)
        e, took = fails(c.poll, timeout=0.5)
        assert (e.code, took < SOON) == ("unreachable", True)
        monkeypatch.setattr(hubclient.feed.time, "sleep", lambda _: pytest.fail("a look does not wait"))
        assert fails(c.poll, timeout=0)[0].code == "unreachable"


def test_the_absence_that_a_poll_bears_is_five_seconds():
    import hubclient.feed

    assert hubclient.feed._ABSENCE_SEC == 5.0


def test_a_poll_of_a_hub_that_was_never_there_fails_at_once(monkeypatch, tmp_path, forwarder, relayed):  # noqa: F811
    import hubclient.feed

    monkeypatch.setattr(hubclient.feed, "_ABSENCE_SEC", 60.0)
    with HubClient("a", f"http://127.0.0.1:{free_port()}") as c:
        e, took = fails(c.poll, timeout=60)
    assert (e.code, took < SOON) == ("unreachable", True)
    envelope = {"ok": False, "error": "away", "code": "unreachable", "status": 599}
    forwarder.reply = lambda r: {"request_id": r["request_id"], "ok": False, "status": 599, "body": envelope}
    e, took = fails(relayed().poll, timeout=60)
    assert (e.status, took < SOON) == (599, True)


def test_what_a_hub_refuses_ends_a_poll_at_once(registered):
    e, took = fails(registered().poll, timeout=60, channel="nowhere")
    assert (e.code, took < SOON) == ("channel_not_found", True)
