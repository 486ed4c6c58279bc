"""Every method against the real hub, with good and bad input."""

import time

import pytest

from conftest import raw_get
from hubclient import HubClient, HubError, InvalidInput


def refused(code, status, call, *args, **options):
    with pytest.raises(HubError) as caught:
        call(*args, **options)
    e = caught.value
    assert (e.code, e.status) == (code, status)
    assert e.error
    assert e.error in str(e)
    assert e.fix in str(e)
    if not isinstance(e, InvalidInput):
        assert e.envelope["code"] == code
    return e


# Sessions.


def test_constructor_and_with_register_nothing(hub, name):
    me = name("quiet")
    with HubClient(me, hub.url) as c:
        assert (c.agent_id, c.session_id, c.resume_key, c.room_id, c.cursor) == (me, None, None, None, 0)
    agents = raw_get(hub.url + "/v1/agents")["result"]
    assert me not in [a["agent_id"] for a in agents]


def test_constructor_refuses_what_can_be_no_client(hub):
    for options in (
        {"agent_id": ""},
        {"agent_id": None},
        {"agent_id": "a", "timeout": 0},
        {"agent_id": "a", "timeout": "9"},
    ):
        with pytest.raises(InvalidInput):
            HubClient(base_url=hub.url, **options)


def test_register(hub, client):
    c = client("dev")
    row = c.register(display_name="Dev", capabilities=["go"], metadata={"team": 1})
    assert row["agent_id"] == c.agent_id
    assert (row["display_name"], row["capabilities"], row["metadata"]) == ("Dev", ["go"], {"team": 1})
    assert row["session_id"] == c.session_id
    assert row["resume_key"] == c.resume_key
    assert c.session_id not in repr(c)
    assert c.resume_key not in repr(c)


def test_register_replaces_unless_told_not_to(hub, client):
    c = client()
    first = c.register()["session_id"]
    assert c.register()["session_id"] != first
    refused("session_conflict", 409, c.register, replace=False)


def test_register_refuses_an_agent_id_that_is_none(hub):
    with HubClient("two words", hub.url) as c:
        e = refused("invalid_agent_id", 400, c.register)
    assert e.detail["suggested"] == "two-words"


def test_quickstart_skips_the_backlog(hub, client, name):
    client().post("general", "before")
    with HubClient.quickstart(name("dev"), hub.url, display_name="D", capabilities=["x"], metadata={"a": 1}) as c:
        assert c.session_id
        assert c.poll(timeout=0) == []
        later = client().post("general", "after")
        assert [m["id"] for m in c.poll(timeout=5)] == [later["id"]]


def test_bootstrap_and_whoami_advance_the_cursor(registered, client):
    c = registered()
    before = c.cursor
    posted = client().post("general", "news")
    assert c.cursor == before
    row = c.whoami()
    assert row["latest_visible_id"] == c.cursor >= posted["id"]
    assert row["session"]["agent_id"] == c.agent_id
    assert c.bootstrap().keys() == row.keys()
    assert c.room_id == row["room_id"]
    assert c.poll(timeout=0) == []


def test_close_ends_the_session_and_can_be_repeated(hub, registered):
    c = registered()
    me = c.agent_id
    assert me in [a["agent_id"] for a in raw_get(hub.url + "/v1/agents")["result"]]
    c.close()
    assert me not in [a["agent_id"] for a in raw_get(hub.url + "/v1/agents")["result"]]
    c.close()
    assert c.session_id is None
    assert c.post("general", "a closed client still speaks")["id"]


def test_close_swallows_that_the_session_is_gone(client, registered):
    c = registered()
    secret = c.session_id
    c.close()
    c.session_id = secret
    c.close()


def test_close_swallows_that_the_hub_is_gone(own_hub, name):
    c = HubClient.quickstart(name("dev"), own_hub.url)
    own_hub.kill()
    c.close()
    assert c.session_id is None


def test_with_closes_also_after_an_error(hub, name):
    me = name("dev")

    class ProbeError(Exception):
        pass

    with pytest.raises(ProbeError), HubClient(me, hub.url) as c:
        c.register()
        raise ProbeError
    assert me not in [a["agent_id"] for a in raw_get(hub.url + "/v1/agents")["result"]]


def test_resume_mcp_identity(hub, registered):
    c = registered()
    with HubClient.resume_mcp_identity(c.session_id, c.resume_key, hub.url) as again:
        assert again.agent_id == c.agent_id
        assert again.session_id not in (None, c.session_id)
        assert again.resume_key
        assert again.bootstrap()["session"]["incarnation"] == 2
    e = refused("resume_denied", 401, HubClient.resume_mcp_identity, c.session_id, "wrong", hub.url)
    assert c.session_id not in str(e) + repr(e) + str(e.detail)


# Messages.


def test_post_keeps_all_it_is_given(client, name):
    c, thread = client(), name("thread")
    first = c.post("general", "first", thread_id=thread)
    attachments = [
        {"type": "text", "content": "t"},
        {"type": "json", "content": {"a": [1, None]}},
        {"type": "file_ref", "path": "a.go", "start_line": 3},
    ]
    row = c.post(
        "general",
        "ünïcödé 🚀\n\t\u2028 end",
        kind="artifact",
        thread_id=thread,
        attachments=attachments,
        metadata={"ключ": "значение"},
        reply_to=first["id"],
    )
    assert row["body"] == "ünïcödé 🚀\n\t\u2028 end"
    assert (row["from_agent"], row["channel"], row["kind"], row["thread_id"]) == (
        c.agent_id,
        "general",
        "artifact",
        thread,
    )
    assert row["reply_to"] == first["id"]
    assert row["metadata"] == {"ключ": "значение"}
    assert [a["type"] for a in row["attachments"]] == ["text", "json", "file_ref"]
    task = c.post("general", "t", kind="task")
    child = c.post("general", "c", kind="task", parent_task_id=task["id"])
    assert child["parent_task_id"] == task["id"]


@pytest.mark.parametrize(
    ("code", "arguments", "options"),
    [
        ("channel_not_found", ("no-such-channel", "x"), {}),
        ("unknown_kind", ("general", "x"), {"kind": "shout"}),
        ("reply_required", ("general", "x"), {"kind": "task_result"}),
        ("reply_not_found", ("general", "x"), {"reply_to": 2**50}),
        ("parent_not_found", ("general", "x"), {"kind": "task", "parent_task_id": 2**50}),
        ("reserved_metadata", ("general", "x"), {"metadata": {"wake": {}}}),
        ("too_many_attachments", ("general", "x"), {"attachments": [{"type": "text", "content": ""}] * 33}),
        ("invalid", ("general", ""), {}),
    ],
)
def test_post_passes_on_what_the_hub_refuses(client, code, arguments, options):
    refused(code, 400, client().post, *arguments, **options)


def test_body_of_the_greatest_length(client):
    c = client()
    body = "𝄞" * 128_000
    row = c.post("general", body)
    assert row["body"] == body
    c.cursor = row["id"] - 1
    assert c.poll(exclude_self=False, timeout=0, limit=1)[0]["body"] == body
    e = refused("body_too_large", 400, c.post, "general", body + "!")
    assert "128001" in str(e)
    assert "128000" in str(e)


@pytest.mark.parametrize("value", [float("nan"), {1, 2}, b"bytes", object()])
def test_what_is_no_json_is_not_sent(client, value):
    e = refused("invalid", 400, client().post, "general", "x", metadata={"a": value})
    assert isinstance(e, ValueError)


def test_half_a_character_is_not_sent(client):
    c = client()
    refused("invalid", 400, c.post, "general", "\ud83d")
    refused("invalid", 400, c.get_thread, "\ud83d")
    refused("invalid", 400, c.poll, channel="\ud83d", timeout=0)


def test_circular_metadata_is_not_sent(client):
    circle = {}
    circle["me"] = circle
    refused("invalid", 400, client().post, "general", "x", metadata=circle)


def test_dm_is_seen_by_its_recipient_alone(registered):
    a, b, other = registered("a"), registered("b"), registered("other")
    row = a.dm(b.agent_id, "psst", kind="notice", metadata={"x": 1}, thread_id="t-dm")
    assert (row["to_agent"], row["channel"], row["kind"], row["metadata"]) == (b.agent_id, "direct", "notice", {"x": 1})
    assert a.dm(b.agent_id, "again", channel="label")["channel"] == "label"
    marker = a.post("general", "marker")["id"]
    seen = {c: [m["body"] for m in poll_until(c, marker)] for c in (b, other)}
    assert "psst" in seen[b]
    assert "psst" not in seen[other]


def poll_until(client, message_id):
    rows = []
    while client.cursor < message_id:
        rows += client.poll(timeout=10)
    return rows


def test_dm_takes_no_second_recipient(client):
    with pytest.raises(TypeError):
        client().dm("b", "x", to_agent="c")
    with pytest.raises(TypeError):
        client().dm("b", "x", nonsense=1)


def test_create_channel_is_idempotent(client, name):
    a, b, channel = client(), client(), name("channel")
    row = a.create_channel(channel, metadata={"x": 1})
    assert (row["name"], row["created_by"], row["metadata"]) == (channel, a.agent_id, {"x": 1})
    assert b.create_channel(channel, metadata={"y": 2}) == row
    assert a.post(channel, "hi")["channel"] == channel
    refused("reserved_name", 403, a.create_channel, "room-x")


def test_get_thread(client, name):
    c, thread = client(), name("with/slash and space")
    c.post("general", "one", thread_id=thread)
    c.claim(name("key"), thread_id=thread)
    row = c.get_thread(thread)
    assert row.keys() == {"thread", "messages", "tasks", "claims", "locks"}
    assert [m["body"] for m in row["messages"]] == ["one"]
    assert row["claims"][0]["owner_agent_id"] == c.agent_id
    refused("thread_not_found", 404, c.get_thread, name("nothing"))
    refused("invalid", 400, c.get_thread, "")


# Polls.


def test_poll_scopes(client, name):
    writer, channel, thread = client("writer"), name("channel"), name("thread")
    writer.create_channel(channel)
    start = writer.post("general", "start")["id"]
    writer.post(channel, "in channel")
    writer.post("general", "in thread", thread_id=thread)

    def bodies(**options):
        reader = client("reader")
        reader.cursor = start
        return [m["body"] for m in reader.poll(timeout=0, **options) if m["from_agent"] == writer.agent_id]

    assert bodies() == ["in channel", "in thread"]
    assert bodies(channel=channel) == ["in channel"]
    assert bodies(thread_id=thread) == ["in thread"]
    assert bodies(channel=channel, thread_id=thread) == []
    assert bodies(limit=1) == ["in channel"]


def test_poll_refuses_channel_and_room_together(client):
    e = refused("invalid", 400, client().poll, channel="general", room_id="r", timeout=0)
    assert isinstance(e, ValueError)


def test_poll_passes_on_what_the_hub_refuses(client):
    c = client()
    refused("channel_not_found", 404, c.poll, channel="nowhere", timeout=0)
    refused("room_not_found", 404, c.poll, room_id="nowhere", timeout=0)
    refused("invalid", 400, c.poll, limit=0, timeout=0)
    for timeout in (-1, float("nan"), float("inf"), "1", None, True):
        refused("invalid", 400, c.poll, timeout=timeout)


def test_poll_excludes_own_posts_unless_told(registered):
    c = registered()
    posted = c.post("general", "mine")["id"]
    before = c.cursor
    assert posted not in [m["id"] for m in c.poll(timeout=0)]
    assert c.cursor >= posted  # the filtered row is not examined again
    c.cursor = before
    assert posted in [m["id"] for m in c.poll(timeout=0, exclude_self=False)]


def test_poll_wakes_and_never_repeats(registered, background):
    reader, writer = registered("reader"), registered("writer")
    joined = background(lambda: reader.poll(timeout=20))
    posted = writer.dm(reader.agent_id, "wake up")
    assert [m["id"] for m in joined()] == [posted["id"]]
    assert reader.cursor == posted["id"]
    assert reader.poll(timeout=0) == []


def test_poll_ends_with_its_time(registered, name):
    c = registered()
    c.create_channel(name("silence"))
    began = time.monotonic()
    assert c.poll(timeout=0.3, thread_id=name("nothing")) == []
    assert time.monotonic() - began >= 0.3


def test_poll_budget_of_characters(registered):
    reader, writer = registered("reader"), registered("writer")
    for _ in range(2):
        writer.dm(reader.agent_id, "x" * 500)
    rows = reader.poll(timeout=0, max_chars=500)
    bodies = [m for m in rows if m["from_agent"] == writer.agent_id]
    assert len(bodies) == 2
    assert bodies[0]["truncated"]["chars"] == 500
    assert bodies[1]["truncated"] is None


def test_cursor_takes_only_ids(client):
    c = client()
    for value in (-1, None, "1", 1.5, True):
        with pytest.raises(InvalidInput):
            c.cursor = value
    c.cursor = 5
    assert c.cursor == 5


def test_cursor_never_goes_back_by_a_poll_that_was_overtaken(registered, background, name):
    c, writer = registered(), registered("writer")
    thread = name("thread")
    late = background(lambda: c.poll(timeout=20, thread_id=thread))
    posted = writer.post("general", "for the other poll")
    last = writer.post("general", "ends the first", thread_id=thread)
    late()
    c.bootstrap()
    assert c.cursor >= last["id"] > posted["id"]
    head = c.cursor
    c._cursor.advance(3, "")
    c._cursor.adopt(3, "")
    assert c.cursor == head


# Leases and tasks.


def test_claim_returns_the_holders_row(client, name):
    a, b, key, thread = client("a"), client("b"), name("key"), name("thread")
    task = a.post("general", "t", kind="task")["id"]
    row = a.claim(key, thread_id=thread, task_message_id=task, ttl_sec=60, metadata={"x": 1})
    assert "acquired" not in row
    assert (row["claim_key"], row["owner_agent_id"], row["thread_id"], row["task_message_id"], row["metadata"]) == (
        key, a.agent_id, thread, task, {"x": 1},
    )  # fmt: skip
    held = b.claim(key)
    assert (held["owner_agent_id"], held["fence"]) == (a.agent_id, row["fence"])
    assert a.claim(key)["fence"] == row["fence"]
    released = a.release(key)
    assert released["released_at"]
    after = b.claim(key)
    assert after["owner_agent_id"] == b.agent_id
    assert after["fence"] > row["fence"]


def test_refresh_and_release_need_the_holder(client, name):
    a, b, key = client("a"), client("b"), name("key")
    refused("not_holder", 404, a.release, key)
    refused("not_holder", 404, a.refresh_claim, key)
    row = a.claim(key, ttl_sec=5)
    assert a.refresh_claim(key, 100)["expires_at"] > row["expires_at"]
    refused("not_holder", 404, b.release, key)
    refused("not_holder", 404, b.refresh_claim, key)
    for ttl in (0, 86401, -1):
        refused("invalid", 400, a.claim, key, ttl_sec=ttl)


def test_lock_returns_the_holders_row(client, name):
    a, b, path = client("a"), client("b"), "src/" + name("file")
    row = a.lock(path, 60, {"x": 1})
    assert "acquired" not in row
    assert (row["file_path"], row["agent_id"], row["metadata"]) == (path, a.agent_id, {"x": 1})
    assert b.lock("./" + path)["agent_id"] == a.agent_id
    refused("not_holder", 404, b.unlock, path)
    assert a.unlock(path)["released_at"]
    assert b.lock(path, ttl_sec=1, metadata=None)["agent_id"] == b.agent_id
    refused("invalid", 400, a.lock, "")


def test_complete_task_rolls_up(client):
    c = client()
    parent = c.post("general", "parent", kind="task")["id"]
    children = [c.post("general", "child", kind="task", parent_task_id=parent)["id"] for _ in range(2)]
    assert c.complete_task(children[0])["status"] == "done"
    row = c.complete_task(children[1])
    assert (row["task_id"], row["status"]) == (children[1], "done")
    assert c.complete_task(parent)["version"] == c.complete_task(parent)["version"]
    assert c.complete_task(parent)["status"] == "done"
    refused("task_not_found", 404, c.complete_task, 2**50)
    for bad in (0, -1, "5", None, True, 1.0):
        refused("invalid", 400, c.complete_task, bad)
