"""The file spool with the real forwarder, which is killed now and then."""

import contextlib
import json
import os
import signal
import time

import pytest

from conftest import WAIT_SEC, free_port, raw_get, until
from hubclient import (
    HubClient,
    HubConfig,
    HubError,
    RelayTransport,
    Request,
    create_relay,
    create_server,
)
from test_relay import files


@pytest.fixture
def relay(executable, hub, tmp_path):
    """A forwarder of a spool of the test's own."""
    with create_relay(tmp_path / "spool", hub.url, executable=executable) as relay:
        relay.spool = tmp_path / "spool"
        yield relay


@pytest.fixture
def relayed(relay, name):
    """Makes clients whose spool the real forwarder serves."""
    with contextlib.ExitStack() as stack:
        yield lambda word="agent", **options: stack.enter_context(
            HubClient.over_relay(name(word), str(relay.spool), **options)
        )


def in_thread(hub, thread):
    return [m["body"] for m in raw_get(f"{hub.url}/v1/messages?thread_id={thread}&limit=1000")["result"]]


def test_a_request_is_removed_before_its_answer(tmp_path, background, monkeypatch):
    """Else the forwarder after one that dies between the two does again what the hub had refused."""
    requests, responses = tmp_path / "requests" / "dev", tmp_path / "responses" / "dev"
    order, unlink = [], os.unlink

    def removes(path, *args, **options):
        unlink(path, *args, **options)
        order.append(os.path.basename(path))

    def answers_and_dies():
        until(lambda: list(requests.glob("*.json")), "the request")
        request = next(requests.glob("*.json"))
        os.rename(request, request.with_suffix(".work"))
        temp = responses / ".tmp-x"
        temp.write_text(
            json.dumps({"request_id": request.stem, "ok": True, "status": 200, "body": {"ok": True, "result": {}}})
        )
        os.rename(temp, responses / request.name)

    died = background(answers_and_dies)
    monkeypatch.setattr(os, "unlink", removes)
    assert RelayTransport("dev", tmp_path).send(Request("POST", "/v1/claims", b"{}", "k-1")).status == 200
    died()
    assert order == ["k-1.work", "k-1.json"]


def test_all_methods(relay, relayed, name, background):
    c, other = relayed("a@x"), relayed("b")
    c.register(display_name="d", capabilities=["x"], metadata={"a": 1})
    assert c.bootstrap()["session"]["agent_id"] == c.agent_id
    other.bootstrap()
    channel, thread, key = name("channel"), name("a/thread"), name("key")
    c.create_channel(channel)
    row = c.post(channel, "ünïcödé 🚀 \u2028", thread_id=thread, attachments=[{"type": "json", "content": [1.5, None]}])
    assert (row["assurance"], row["body"]) == ("relay", "ünïcödé 🚀 \u2028")
    assert c.poll(timeout=0, exclude_self=False, channel=channel) == [row]
    assert c.get_thread(thread)["messages"] == [row]
    assert c.claim(key)["owner_agent_id"] == other.claim(key)["owner_agent_id"] == c.agent_id
    assert c.refresh_claim(key)["owner_agent_id"] == c.agent_id
    assert c.release(key)["released_at"]
    assert c.lock(name("f"))["agent_id"] == c.agent_id
    path = name("f")
    c.lock(path)
    assert c.unlock(path)["released_at"]
    assert c.complete_task(c.post(channel, "t", kind="task")["id"])["status"] == "done"

    def reply():
        (m,) = other.poll(timeout=WAIT_SEC, channel="direct")
        other.dm(c.agent_id, "yes", kind="task_result", reply_to=m["id"])

    background(reply)
    assert c.call(other.agent_id, "?", timeout=WAIT_SEC)["body"] == "yes"
    for call, code, status in (
        (lambda: c.post("nowhere", "x"), "channel_not_found", 400),
        (lambda: c.release("nothing"), "not_holder", 404),
    ):
        with pytest.raises(HubError) as caught:
            call()
        assert (caught.value.code, caught.value.status) == (code, status)
    c.close()
    assert c.agent_id not in [a["agent_id"] for a in raw_get(relay_hub(relay) + "/v1/agents")["result"]]
    until(lambda: files(relay.spool) == [], "the end of all files")


def relay_hub(relay):
    return relay._command[relay._command.index("--base-url") + 1]


def test_the_greatest_body_comes_through(relayed):
    c = relayed()
    body = "𝄞" * 128_000
    assert c.post("general", body)["body"] == body
    with pytest.raises(HubError) as caught:
        c.post("general", body + "!")
    assert caught.value.code == "body_too_large"


def test_posts_of_many_threads_are_there_once(hub, relayed, background, name):
    c, thread = relayed(), name("thread")
    joined = [
        background(lambda t=t: [c.post("general", f"{t}.{i}", thread_id=thread) for i in range(10)]) for t in range(8)
    ]
    for join in joined:
        join()
    assert sorted(in_thread(hub, thread)) == sorted(f"{t}.{i}" for t in range(8) for i in range(10))


def test_parked_polls_delay_no_post(relay, relayed, background):
    c, other = relayed(), relayed("other")
    c.bootstrap()
    joined = background(lambda: c.poll(timeout=WAIT_SEC, channel="direct"))
    until(lambda: list(relay.spool.glob("requests/*/*.work")), "the parked poll")
    c.post("general", "while it waits")
    other.dm(c.agent_id, "wake")
    assert [m["body"] for m in joined()] == ["wake"]


def test_posts_across_kills_of_the_forwarder_are_there_once(hub, relay, relayed, background, name):
    c, thread = relayed(timeout=60), name("thread")
    count = 40

    def post():
        for i in range(count):
            c.post("general", str(i), thread_id=thread)

    joined = background(post)
    for kill in range(1, 4):
        until(lambda kill=kill: len(in_thread(hub, thread)) >= kill * 10, "ten more posts")
        os.kill(relay.pid, signal.SIGKILL)
        relay.stop()
        relay.start()
    joined()
    assert in_thread(hub, thread) == [str(i) for i in range(count)]


def test_a_forwarder_that_comes_late_is_in_time(relay, relayed, background):
    c = relayed()
    relay.stop()
    joined = background(lambda: c.post("general", "patience"))
    until(lambda: list(relay.spool.glob("requests/*/*.json")), "the request")
    relay.start()
    assert joined()["body"] == "patience"


def test_a_hub_that_is_away(executable, tmp_path, name):
    with (
        create_relay(tmp_path, f"http://127.0.0.1:{free_port()}", executable=executable, request_timeout_sec=6),
        HubClient.over_relay(name("a"), str(tmp_path)) as c,
        pytest.raises(HubError) as caught,
    ):
        c.post("general", "x")
    e = caught.value
    assert (e.status, e.code) == (599, "unreachable")
    assert e.fix


def test_a_hub_that_serves_the_spool_itself(executable, tmp_path, name):
    config = HubConfig(port=free_port(), storage=tmp_path / "s", spool_dir=tmp_path / "spool", quiet=True)
    with create_server(config, executable=executable):
        until((tmp_path / "spool").is_dir, "the spool")
        with HubClient.over_relay(name("a"), str(tmp_path / "spool")) as c:
            c.register()
            assert c.post("general", "x")["assurance"] == "relay"


def test_a_poll_longer_than_a_slice(relayed, monkeypatch, background):
    from hubclient import RelayTransport

    monkeypatch.setattr(RelayTransport, "max_wait", 0.3)
    c, other = relayed(), relayed("other")
    c.bootstrap()
    began = time.monotonic()
    assert c.poll(timeout=1, channel="direct") == []
    assert time.monotonic() - began >= 1
    joined = background(lambda: c.poll(timeout=WAIT_SEC, channel="direct"))
    other.dm(c.agent_id, "wake")
    assert [m["body"] for m in joined()] == ["wake"]


def test_a_session_cannot_be_taken_over_through_the_spool(relayed):
    """What another agent's request would say is refused: the spool's agent is who acts."""
    c, other = relayed(), relayed("other")
    c.agent_id = other.agent_id
    with pytest.raises(HubError) as caught:
        c.post("general", "as somebody else")
    assert (caught.value.status, caught.value.code) == (403, "agent_mismatch")
