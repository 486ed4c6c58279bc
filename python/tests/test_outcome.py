"""resend(): a write whose outcome is unknown."""

import pickle

import pytest

from conftest import free_port, raw_get, read_request
from hubclient import HubClient, HubError, InvalidInput, resend
from test_connections import Proxy
from test_relay import forwarder, relayed  # noqa: F401 - fixtures


def unknown(call, *args, **options):
    with pytest.raises(HubError) as caught:
        call(*args, **options)
    e = caught.value
    assert e.detail["outcome"] == "unknown"
    return e


def in_thread(hub, thread):
    return raw_get(f"{hub.url}/v1/messages?thread_id={thread}")["result"]


def test_a_write_that_was_done_is_not_done_again(hub, server, name):
    proxy, thread = Proxy(server, hub.port, cut={1, 2}), name("thread")
    with HubClient(name("a"), proxy.url) as c:
        e = unknown(c.post, "general", "once", thread_id=thread)
        row = resend(c, e)
        assert resend(c, pickle.loads(pickle.dumps(e))) == row
    assert in_thread(hub, thread) == [row]


def test_a_write_that_was_not_done_is_done(hub, server, name):
    def serve(connection):
        read_request(connection)

    thread, me = name("thread"), name("a")
    with HubClient(me, server(serve).url) as c:
        e = unknown(c.post, "general", "once", thread_id=thread)
    assert in_thread(hub, thread) == []
    with HubClient(me, hub.url) as c:
        row = resend(c, e)
    assert in_thread(hub, thread) == [row]


def test_an_outcome_that_stays_unknown_can_be_asked_for_again(hub, server, name):
    proxy, thread, me = Proxy(server, hub.port, cut={1, 2, 3, 4}), name("thread"), name("a")
    with HubClient(me, proxy.url) as c:
        e = unknown(resend, c, unknown(c.post, "general", "once", thread_id=thread))
    with HubClient(me, f"http://127.0.0.1:{free_port()}") as c:
        e = unknown(resend, c, e)  # that nobody answers now does not tell what became of it
        assert e.code == "unreachable"
    with HubClient(me, hub.url) as c:
        assert [resend(c, e)] == in_thread(hub, thread)


def test_a_question_whose_posting_was_not_answered(hub, server, name):
    proxy = Proxy(server, hub.port, cut={1, 2})
    with HubClient(name("a"), proxy.url) as c, HubClient(name("b"), hub.url) as other:
        request = resend(c, unknown(c.call, other.agent_id, "?", timeout=5))
        answer = other.dm(c.agent_id, "42", kind="task_result", reply_to=request["id"])
        assert [m for m in c.poll(timeout=5, channel="direct") if m["reply_to"] == request["id"]] == [answer]
        asked = raw_get(f"{hub.url}/v1/inbox/{other.agent_id}")["result"]
    assert [m["id"] for m in asked] == [request["id"]]


def test_over_the_relay(hub, forwarder, relayed, name):  # noqa: F811
    real, thread = forwarder.reply, name("thread")

    def lose(request):
        real(request)

    c = relayed(timeout=1)
    forwarder.reply = lose
    e = unknown(c.post, "general", "once", thread_id=thread)
    forwarder.reply = real
    assert [resend(c, e)] == in_thread(hub, thread)
    assert [r["request_id"] for r in forwarder.taken] == [e.detail["request_id"]] * 2


def test_the_request_is_not_shown(hub, server, name):
    proxy = Proxy(server, hub.port, cut={1, 2})
    with HubClient(name("a"), proxy.url) as c:
        e = unknown(c.post, "general", "hidden-text")
    assert "hidden-text" not in str(e) + repr(e) + str(e.args) + str(vars(e))


def test_an_error_keeps_no_secret(server):
    def serve(connection):
        read_request(connection)

    e = unknown(HubClient.resume_mcp_identity, "s", "secret-key", server(serve).url)
    assert b"secret-key" not in pickle.dumps(e)
    with HubClient("a") as c, pytest.raises(InvalidInput):
        resend(c, e)


def test_what_cannot_be_resent(client):
    c = client()
    with pytest.raises(HubError) as refusal:
        c.post("nowhere", "x")
    for error in (refusal.value, HubError("x"), ValueError("x"), None):
        with pytest.raises(InvalidInput) as caught:
            resend(c, error)
        assert caught.value.detail == {"field": "error"}
    with pytest.raises(InvalidInput) as caught:
        resend(None, refusal.value)
    assert caught.value.detail == {"field": "client"}
