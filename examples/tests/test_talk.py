"""Examples in which agents talk: what they print, and what the hub has of it."""

from __future__ import annotations

from conftest import Hub, Runner, printed


def test_hello(hub: Hub, run: Runner) -> None:
    assert printed(run("hello.py", "--base-url", hub.url)) == [
        "alice says in #hello: Hello, who is there?",
        "bob heard message 1 and answers alice alone",
        "alice heard from bob: Hello alice, bob is.",
    ]
    said = hub.get("/v1/messages?channel=hello")
    assert [(m["from_agent"], m["body"]) for m in said] == [("alice", "Hello, who is there?")]
    answered = hub.get("/v1/inbox/alice")
    assert [(m["from_agent"], m["reply_to"], m["body"]) for m in answered] == [("bob", 1, "Hello alice, bob is.")]


def test_hello_hears_only_what_is_new(hub: Hub, run: Runner) -> None:
    first = printed(run("hello.py", "--base-url", hub.url))
    again = printed(run("hello.py", "--base-url", hub.url))
    assert again == [line.replace("message 1", "message 3") for line in first]


def test_rpc_call(hub: Hub, run: Runner) -> None:
    lines = printed(run("rpc_call.py", "--base-url", hub.url))
    asked = hub.get("/v1/inbox/word-counter")
    quick, slow, stop = asked
    assert lines == [
        "word-counter answers: 5 words",
        f"no answer within a second; waiting for request {slow['id']}, not sending it again",
        "word-counter answers: 6 words",
        "word-counter answered 2 requests",
    ]
    assert [m["kind"] for m in asked] == ["task_request", "task_request", "chat"]
    assert stop["body"] == "stop"
    results = hub.get("/v1/inbox/editor")
    assert [(m["kind"], m["reply_to"], m["body"]) for m in results] == [
        ("task_result", quick["id"], "5"),
        ("task_result", slow["id"], "6"),
    ]
    # The requests were tasks, and the answers have completed them.
    for request in (quick, slow):
        assert hub.get(f"/v1/tasks/{request['id']}?agent_id=editor")["status"] == "done"
