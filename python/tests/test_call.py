"""call(): a question to an agent and the wait for its answer."""

import time

import pytest

from conftest import WAIT_SEC, until
from hubclient import HubClient, HubError, InvalidInput


@pytest.fixture
def specialist(registered, background):
    """Starts an agent that answers one task_request with reply(agent, request)."""

    def start(reply):
        agent = registered("specialist")

        def work():
            while True:
                for m in agent.poll(timeout=WAIT_SEC):
                    if m["kind"] == "task_request" and m["to_agent"] == agent.agent_id:
                        reply(agent, m)
                        return

        background(work)
        return agent

    return start


def direct(agent, request):
    agent.dm(request["from_agent"], "42", kind="task_result", reply_to=request["id"])


def test_a_direct_answer(registered, specialist):
    c, other = registered(), specialist(direct)
    before = c.cursor
    row = c.call(other.agent_id, "what is it?", timeout=WAIT_SEC, metadata={"x": 1})
    assert (row["body"], row["kind"], row["from_agent"], row["to_agent"]) == (
        "42",
        "task_result",
        other.agent_id,
        c.agent_id,
    )
    assert c.cursor == before
    seen = [m for m in c.poll(timeout=5) if m["id"] == row["id"]]
    assert seen == [row]
    (request,) = [m for m in read_inbox(other) if m["id"] == row["reply_to"]]
    assert (request["kind"], request["channel"], request["metadata"]) == ("task_request", "direct", {"x": 1})


def read_inbox(client):
    client.cursor = 0
    rows = []
    while page := client.poll(timeout=0, channel="direct", limit=1000):
        rows += page
    return rows


def test_a_public_answer_in_the_channel(registered, specialist, name):
    c, channel = registered(), name("channel")
    c.create_channel(channel)

    def reply(agent, request):
        agent.post(channel, "public", kind="task_result", reply_to=request["id"])

    row = c.call(specialist(reply).agent_id, "?", channel=channel, timeout=WAIT_SEC)
    assert (row["body"], row["channel"], row["to_agent"]) == ("public", channel, None)


def test_an_unknown_channel_is_only_a_label(registered, specialist, name):
    c = registered()
    assert c.call(specialist(direct).agent_id, "?", channel=name("label"), timeout=WAIT_SEC)["body"] == "42"


def test_a_public_answer_in_a_channel_that_was_made_meanwhile(registered, specialist, name):
    c, channel = registered(), name("later")

    def reply(agent, request):
        agent.create_channel(channel)
        agent.post(channel, "public", kind="task_result", reply_to=request["id"])

    assert (
        c.call(specialist(reply).agent_id, "?", channel=channel, timeout=WAIT_SEC, poll_interval=0.2)["body"]
        == "public"
    )


def test_other_messages_are_not_taken_for_the_answer(registered, specialist):
    c = registered()
    elsewhere = c.post("general", "another request", kind="task")["id"]

    def reply(agent, request):
        agent.dm(request["from_agent"], "working on it", reply_to=request["id"])
        agent.dm(request["from_agent"], "for another", kind="task_result", reply_to=elsewhere)
        for i in range(5):
            agent.post("direct", f"noise {i}")
        direct(agent, request)

    assert c.call(specialist(reply).agent_id, "?", timeout=WAIT_SEC)["body"] == "42"


def test_an_answer_after_more_rows_than_a_page(registered, specialist, monkeypatch):
    import hubclient.wait

    monkeypatch.setattr(hubclient.wait, "_PAGE", 2)
    c = registered()

    def reply(agent, request):
        for i in range(9):
            agent.dm(request["from_agent"], f"{i}")
        direct(agent, request)

    assert c.call(specialist(reply).agent_id, "?", timeout=WAIT_SEC)["body"] == "42"


def test_the_answer_wakes_the_call(registered, specialist):
    c, other = registered(), specialist(direct)
    began = time.monotonic()
    c.call(other.agent_id, "?", timeout=WAIT_SEC, poll_interval=WAIT_SEC)
    assert time.monotonic() - began < WAIT_SEC / 2


@pytest.mark.parametrize("view", ["events", "inbox", "channel_view"])
def test_each_view_finds_the_answer(registered, name, view, monkeypatch):
    """The wake-up alone finds the answer, and so does each scan."""
    import hubclient.wait

    c, other, channel = registered(), registered(), name("channel")
    c.create_channel(channel)
    request = c.dm(other.agent_id, "?", kind="task_request")
    monkeypatch.setattr(hubclient.wait, "_PAGE", 2)
    for i in range(5):  # more than two pages of each view
        other.dm(c.agent_id, f"{i}")
        other.post(channel, f"{i}")
    to = {} if view == "channel_view" else {"to_agent": c.agent_id}
    answer = other.post(channel, "42", kind="task_result", reply_to=request["id"], **to)
    wait = hubclient.wait.Wait(c._calls, c.agent_id, request, channel, time.monotonic() + 5, 1.0)
    looks = 10 if view == "events" else 1  # a look at events ends with the first rows that it finds
    assert answer in [getattr(wait, "_" + view)() for _ in range(looks)]
    # The call returns this answer even if the other views find nothing.
    wait = hubclient.wait.Wait(c._calls, c.agent_id, request, channel, time.monotonic() + 5, 0.05)
    for other_view in {"events", "inbox", "channel_view"} - {view}:
        monkeypatch.setattr(wait, "_" + other_view, lambda: None)
    assert wait.answer() == answer


def test_a_call_of_an_agent_at_its_limit_of_parked_polls(own_hub, name, background):
    with HubClient.quickstart(name("a"), own_hub.url) as c, HubClient.quickstart(name("b"), own_hub.url) as other:
        joined = [background(lambda: c.poll(timeout=WAIT_SEC, thread_id="t")) for _ in range(8)]
        until(lambda: own_hub.parked() == 8, "eight parked polls")
        answer = background(lambda: c.call(other.agent_id, "?", timeout=WAIT_SEC, poll_interval=0.1))
        (request,) = other.poll(timeout=WAIT_SEC)
        direct(other, request)
        assert answer()["body"] == "42"
        other.post("general", "wake", thread_id="t")
        assert all([m["body"] for m in join()] == ["wake"] for join in joined)


def test_a_question_to_itself(registered, background):
    c = registered()

    def reply():
        for m in c.poll(timeout=WAIT_SEC, exclude_self=False, channel="direct"):
            if m["kind"] == "task_request":
                c.dm(c.agent_id, "me", kind="task_result", reply_to=m["id"])

    background(reply)
    began = time.monotonic()
    assert c.call(c.agent_id, "who?", timeout=WAIT_SEC, poll_interval=WAIT_SEC)["body"] == "me"
    assert time.monotonic() - began < WAIT_SEC / 2


def test_a_timeout_names_the_request_and_the_answer_is_found_later(registered, name):
    c, other = registered(), registered()
    with pytest.raises(HubError) as caught:
        c.call(other.agent_id, "slow?", timeout=2, poll_interval=0.05)
    e = caught.value
    assert (e.status, e.code) == (408, "call_timeout")
    assert str(e.detail["request_id"]) in str(e)
    (request,) = [m for m in other.poll(timeout=5) if m["kind"] == "task_request"]
    assert request["id"] == e.detail["request_id"]
    answer = other.dm(c.agent_id, "late", kind="task_result", reply_to=request["id"])
    found = [m for m in c.poll(timeout=5) if m["reply_to"] == e.detail["request_id"]]
    assert found == [answer]


def test_a_call_without_time_still_posts_and_looks_once(registered):
    c = registered()
    with pytest.raises(HubError) as caught:
        c.call("nobody-at-all", "x", timeout=0)
    assert caught.value.code == "call_timeout"


def test_a_request_that_was_not_posted_is_not_reported_as_a_timeout(client):
    with pytest.raises(HubError) as caught:
        client().call("someone", "")
    assert (caught.value.code, "request_id" in caught.value.detail) == ("invalid", False)
    for options in ({"timeout": -1}, {"poll_interval": float("nan")}):
        with pytest.raises(InvalidInput):
            client().call("someone", "x", **options)


def test_a_call_outlives_a_hub_that_is_killed_and_started_again(own_hub, name, background):
    with HubClient.quickstart(name("a"), own_hub.url) as c, HubClient.quickstart(name("b"), own_hub.url) as other:
        joined = background(lambda: c.call(other.agent_id, "?", timeout=WAIT_SEC, poll_interval=0.5))
        (request,) = other.poll(timeout=WAIT_SEC)
        until(lambda: own_hub.parked() > 0, "the wait for the answer")
        own_hub.kill()
        own_hub.start()
        other.dm(c.agent_id, "after all", kind="task_result", reply_to=request["id"])
        assert joined()["body"] == "after all"


def test_a_call_to_a_hub_that_stays_away_names_the_request(own_hub, name, background):
    with HubClient.quickstart(name("a"), own_hub.url) as c, HubClient.quickstart(name("b"), own_hub.url) as other:

        def ask():
            with pytest.raises(HubError) as caught:
                c.call(other.agent_id, "?", timeout=6)
            return caught.value

        joined = background(ask)
        (request,) = other.poll(timeout=WAIT_SEC)
        until(lambda: own_hub.parked() > 0, "the wait for the answer")
        own_hub.kill()
        e = joined()
        assert (e.code, e.detail["request_id"]) == ("call_timeout", request["id"])
        assert e.__cause__.code == "unreachable"


def test_an_error_that_ends_the_wait_names_the_request_too(registered, monkeypatch):
    c = registered()
    real = c._calls.get

    def get(path, query, *rest):
        return real(path, {**query, "limit": 0}, *rest)

    monkeypatch.setattr(c._calls, "get", get)
    with pytest.raises(HubError) as caught:
        c.call("someone", "x", timeout=5)
    assert caught.value.code == "invalid"
    assert caught.value.detail["request_id"] > 0
