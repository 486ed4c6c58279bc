"""Examples in which agents talk: what they print, and what the hub has of it."""

from __future__ import annotations

import importlib.util
import threading
import time
from typing import TYPE_CHECKING, Any

from conftest import EXAMPLES, Hub, Runner, printed
from hubclient import HubClient

if TYPE_CHECKING:
    from collections.abc import Callable


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


def part(program: str, function: str) -> Any:
    """A function of an example."""
    spec = importlib.util.spec_from_file_location(program, EXAMPLES / f"{program}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, function)


def waited(hub: Hub, me: HubClient, wait: Callable[[], Any], noise: Callable[[], int], said: Callable[[], Any]) -> Any:
    """What a wait returns while a bystander speaks often, each time into a poll of its own."""
    box: list[Any] = []
    thread = threading.Thread(target=lambda: box.append(wait()), daemon=True)
    last = noise()
    thread.start()
    deadline = time.monotonic() + 30
    for speak in [noise] * 12 + [said]:
        while me.cursor < last or hub.get("/v1/app/status")["counts"]["parked_polls"] == 0:
            assert thread.is_alive(), "it gave up for what others said"
            assert time.monotonic() < deadline
        last = speak()
    thread.join(30)
    return box[0]


def test_a_wait_passes_over_what_others_say(hub: Hub) -> None:
    with (
        HubClient.quickstart("alice", hub.url) as alice,
        HubClient.quickstart("bob", hub.url) as bob,
        HubClient.quickstart("bystander", hub.url) as bystander,
    ):
        alice.create_channel("hello")
        heard = waited(
            hub,
            bob,
            lambda: part("hello", "wait_for")(bob, "alice"),
            lambda: int(bystander.post("hello", "I was first")["id"]),
            lambda: int(alice.post("hello", "Hello, who is there?")["id"]),
        )
        assert (heard["from_agent"], heard["body"]) == ("alice", "Hello, who is there?")

        request = bob.dm("alice", "how many?", kind="task_request")["id"]
        result = waited(
            hub,
            bob,
            lambda: part("rpc_call", "result_of")(bob, request),
            lambda: int(bystander.post("direct", "chatter")["id"]),
            lambda: int(alice.dm("bob", "7", kind="task_result", reply_to=request)["id"]),
        )
        assert (result["body"], result["reply_to"]) == ("7", request)


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
