"""What the methods send and get, compared with the hub's description of itself."""

import json
import re
import urllib.parse

import pytest

from hubclient import HttpTransport, HubClient
from schema import DOCUMENT, check, resolved


class Recorder:
    """A transport that keeps what passes through it."""

    max_wait = 60.0

    def __init__(self, url):
        self._inner = HttpTransport(url)
        self.base_url = url
        self.seen = []

    def send(self, request):
        response = self._inner.send(request)
        self.seen.append((request, response))
        return response

    def close(self):
        self._inner.close()


@pytest.fixture
def recorded(hub, name):
    recorder = Recorder(hub.url)
    with HubClient(name("agent"), transport=recorder) as client:
        client.register(display_name="d", capabilities=["c"], metadata={})
        recorder.seen.clear()
        yield client, recorder


def last_task(client):
    return client.post("general", "t", kind="task")["id"]


def resume(client):
    client.register()
    recorder = client._calls.transport
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("hubclient.client.HttpTransport", lambda *_: recorder)
        HubClient.resume_mcp_identity(client.session_id, client.resume_key, recorder.base_url)


# Method, operation that it is, and whether the parameters and members are all that the operation has for agents.
CASES = {
    "register": ("register", lambda c, n: c.register(display_name="d", capabilities=["x"], metadata={"a": 1})),
    "resume_mcp_identity": ("resumeSession", lambda c, n: resume(c)),
    "bootstrap": ("getBootstrap", lambda c, n: c.bootstrap()),
    "whoami": ("getBootstrap", lambda c, n: c.whoami()),
    "post": (
        "postMessage",
        lambda c, n: c.post(
            "general", "b", kind="task", thread_id="t", attachments=[{"type": "text", "content": "x"}],
            metadata={"a": 1}, reply_to=last_task(c), parent_task_id=last_task(c),
        ),
    ),
    "dm": ("postMessage", lambda c, n: c.dm("someone", "b")),
    "poll": ("pollEvents", lambda c, n: c.poll(timeout=0, channel="general", thread_id=n("t"), limit=5, max_chars=10)),
    "get_thread": ("getThread", lambda c, n: (c.post("general", "x", thread_id="a/b"), c.get_thread("a/b"))),
    "create_channel": ("createChannel", lambda c, n: c.create_channel(n("channel"), metadata={"a": 1})),
    "claim": (
        "claim",
        lambda c, n: c.claim(n("k"), thread_id="t", task_message_id=last_task(c), ttl_sec=999, metadata={"a": 1}),
    ),
    "refresh_claim": ("refreshClaim", lambda c, n: (c.claim("k" + c.agent_id), c.refresh_claim("k" + c.agent_id, 999))),
    "release": ("releaseClaim", lambda c, n: (c.claim("lk" + c.agent_id), c.release("lk" + c.agent_id))),
    "lock": ("lock", lambda c, n: c.lock(n("f"), 999, {"a": 1})),
    "unlock": ("releaseLock", lambda c, n: (c.lock("f" + c.agent_id), c.unlock("f" + c.agent_id))),
    "complete_task": ("completeTask", lambda c, n: c.complete_task(last_task(c))),
    "close": ("closeSession", lambda c, n: c.close()),
}  # fmt: skip


def operation(operation_id):
    for path, operations in DOCUMENT["paths"].items():
        for method, found in operations.items():
            if isinstance(found, dict) and found.get("operationId") == operation_id:
                return method.upper(), path, found
    raise AssertionError(f"the document has no operation {operation_id}")


@pytest.mark.parametrize("method", sorted(CASES))
def test_call_is_what_the_document_describes(recorded, name, method):
    client, recorder = recorded
    operation_id, call = CASES[method]
    call(client, name)
    request, response = recorder.seen[-1]
    verb, path, described = operation(operation_id)
    assert request.method == verb
    sent_path, _, query = request.path.partition("?")
    pattern = re.sub(r"\\\{[a-z_]+\\\}", "[^/?]+", re.escape(path))
    assert re.fullmatch(pattern, sent_path)
    check_query(urllib.parse.parse_qs(query, strict_parsing=bool(query)), described)
    check_body(request, described)
    assert (request.key is not None) == (verb != "GET")
    check_answer(response, described)


def check_query(sent, described):
    parameters = [resolved(p) for p in described["parameters"]]
    known = {p["name"]: p for p in parameters if p["in"] == "query"}
    assert set(sent) <= set(known)
    assert {n for n, p in known.items() if p.get("required")} <= set(sent)
    for parameter, values in sent.items():
        schema = resolved(known[parameter]["schema"])
        if schema.get("type") == "array":
            check(values, schema, parameter)
        else:
            (value,) = values
            check(value, schema, parameter)


def check_body(request, described):
    if "requestBody" not in described:
        assert request.body is None
        return
    schema = resolved(resolved(described["requestBody"])["content"]["application/json"]["schema"])
    body = json.loads(request.body)
    assert set(body) <= set(schema["properties"])
    check(body, schema, "the body")


def check_answer(response, described):
    answers = described["responses"]
    assert str(response.status) in answers
    schema = resolved(answers[str(response.status)])["content"]["application/json"]["schema"]
    check(json.loads(response.body), schema, "the answer")


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"id": "1"}, "id"),
        ({"id": True}, "id"),
        ({"kind": "shout"}, "kind"),
        ({"ts": "2026-01-01T00:00:00Z"}, "ts"),
        ({"to_agent": ""}, "to_agent"),
        ({"thread_id": 5}, "thread_id"),
        ({"attachments": [{"type": "other"}]}, "attachments"),
        ({"metadata": []}, "metadata"),
        ({"authority": None}, "authority"),
        ({"body": ...}, "required"),
    ],
)
def test_the_comparison_notices(client, change, where):
    row = client().post("general", "x", attachments=[{"type": "text", "content": "t"}])
    schema = {"$ref": "#/components/schemas/Message"}
    check(row, schema)
    changed = {name: value for name, value in {**row, **change}.items() if value is not ...}
    with pytest.raises(AssertionError, match=where):
        check(changed, schema)


def test_every_method_that_sends_is_compared():
    from test_surface import SPECIFIED

    made_of_others = {"call", "quickstart", "over_relay"}
    assert set(CASES) == set(SPECIFIED) - made_of_others


def test_call_is_made_of_described_operations(recorded, background):
    client, recorder = recorded
    client.bootstrap()
    me = client.agent_id
    since = client.cursor

    def answer():
        with HubClient(me + ".other", transport=Recorder(recorder.base_url)) as other:
            other.cursor = since
            while True:
                for m in other.poll(channel="direct", timeout=20):
                    if m["kind"] == "task_request" and m["from_agent"] == me:
                        other.dm(me, "done", kind="task_result", reply_to=m["id"])
                        return

    background(answer)
    client.call(me + ".other", "please")
    used = set()
    for request, _ in recorder.seen:
        path, _, query = request.path.partition("?")
        path = path.replace("/inbox/" + urllib.parse.quote(me, safe=""), "/inbox/{agent_id}")
        described = DOCUMENT["paths"][path][request.method.lower()]
        check_query(urllib.parse.parse_qs(query), described)
        used.add(described["operationId"])
    assert (
        {"postMessage", "pollEvents"}
        <= used
        <= {"postMessage", "pollEvents", "getInbox", "listMessages", "getBootstrap"}
    )


def test_limits_and_kinds_of_the_docstrings_are_the_hubs(hub):
    from conftest import raw_get

    info = raw_get(hub.url + "/v1/hub-info")["result"]
    assert (info["max_body_chars"], info["max_attachments"]) == (128_000, 32)
    documented = HubClient.post.__doc__
    assert all(kind in documented for kind in info["message_kinds"])
