"""The file spool, with a small forwarder of the test's own: every step can be held."""

import http.client
import json
import os
import stat
import threading
import time
import urllib.parse

import pytest

from conftest import WAIT_SEC, raw_get, until
from hubclient import HubClient, HubError, InvalidInput, RelayTransport, Request, relay_folder


class Forwarder:
    """Takes requests to the hub as the contract says, one thread each."""

    def __init__(self, spool, port):
        self._thread = threading.Thread(target=self._look, daemon=True)
        self.spool, self._port = spool, port
        self.taken = []  # whole requests
        self.reply = self._forward  # what makes the answer of a request
        self._ended = threading.Event()
        self._serving = []
        (spool / "requests").mkdir(parents=True)

    def start(self):
        self._thread.start()

    def _look(self):
        while not self._ended.wait(0.002):
            try:
                found = list(self.spool.glob("requests/*/[!.]*.json"))
            except FileNotFoundError:  # a test has just cleared a folder away
                continue
            for path in found:
                work = path.with_suffix(".work")
                try:
                    path.rename(work)
                except FileNotFoundError:
                    continue
                thread = threading.Thread(target=self._serve, args=(work,), daemon=True)
                self._serving.append(thread)
                thread.start()

    def _serve(self, work):
        request = json.loads(work.read_text(encoding="utf-8"))
        self.taken.append(request)
        answer = self.reply(request)
        if answer is not None:
            self.write(work.parent.name, request["request_id"], json.dumps(answer))
        work.unlink(missing_ok=True)  # the client may have been quicker

    def write(self, folder, request_id, text):
        target = self.spool / "responses" / folder
        temp = target / f".tmp-{request_id}"
        temp.write_text(text, encoding="utf-8")
        temp.rename(target / f"{request_id}.json")

    def _forward(self, request):
        headers = {"X-Hub-Relay": request["agent_id"]}
        body = None
        if request["method"] != "GET":
            headers["Idempotency-Key"] = request["request_id"]
        if request["body"] is not None:
            body = json.dumps(request["body"])
            headers["Content-Type"] = "application/json"
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=40)
        try:
            connection.request(request["method"], request["path"], body, headers)
            with connection.getresponse() as got:
                envelope = json.loads(got.read())
                return answered(request, got.status, envelope, {"X-Hub-Instance": got.headers["X-Hub-Instance"]})
        finally:
            connection.close()

    def close(self):
        self._ended.set()
        self._thread.join(WAIT_SEC)
        for thread in self._serving:  # before the folder goes
            thread.join(WAIT_SEC)


def answered(request, status, envelope, headers=None):
    return {
        "request_id": request["request_id"],
        "ok": envelope.get("ok", False),
        "status": status,
        "body": envelope,
        "completed_at": "2026-01-01T00:00:00.000Z",
        "headers": headers or {},
    }


GOOD = {"ok": True, "result": {"latest_visible_id": 3, "room_id": None}}


@pytest.fixture
def forwarder(hub, tmp_path):
    f = Forwarder(tmp_path / "spool", hub.port)
    f.start()
    yield f
    f.close()


@pytest.fixture
def relayed(forwarder, name):
    made = []

    def make(word="agent", **options):
        c = HubClient.over_relay(name(word), str(forwarder.spool), **options)
        made.append(c)
        return c

    yield make
    for c in made:
        c.close()


def files(spool):
    """Returns the files of calls: not the mark by which a hub knows its spool again."""
    found = (str(p.relative_to(spool)) for p in spool.rglob("*") if not p.is_dir())
    return sorted(name for name in found if not name.startswith(".maker-"))


@pytest.mark.parametrize(
    ("agent", "folder"),
    [("dev-a", "dev-a"), ("a.b_c-1", "a.b_c-1"), ("a@b", "a_b"), ("a@:+b", "a_b"), ("host:dev@x+", "host_dev_x_")],
)
def test_folder(agent, folder):
    assert relay_folder(agent) == folder


@pytest.mark.parametrize("agent", ["", "..", ".", "/etc", "a/b", "a\n", "ä", "-a", "a" * 65, None])
def test_no_folder_for_what_is_no_agent(agent):
    with pytest.raises(InvalidInput):
        relay_folder(agent)
    with pytest.raises(InvalidInput):
        HubClient.over_relay(agent)


def test_over_relay_touches_nothing(tmp_path):
    with HubClient.over_relay("dev", str(tmp_path / "none")) as c:
        assert (c.agent_id, c.session_id) == ("dev", None)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(InvalidInput):
        HubClient.over_relay("dev", "")


def test_all_methods_over_the_spool(forwarder, relayed, name, background):
    c = relayed("a@x")
    c.register(capabilities=["x"])
    c.bootstrap()
    channel, thread, key = name("channel"), name("thread"), name("key")
    c.create_channel(channel)
    row = c.post(channel, "ünïcödé 🚀 \u2028", thread_id=thread)
    assert (row["assurance"], row["body"]) == ("relay", "ünïcödé 🚀 \u2028")
    assert c.poll(timeout=0, exclude_self=False, channel=channel) == [row]
    assert c.get_thread(thread)["messages"] == [row]
    assert c.claim(key)["owner_agent_id"] == c.agent_id
    assert c.refresh_claim(key)["owner_agent_id"] == c.agent_id
    assert c.release(key)["released_at"]
    assert c.lock("f")["agent_id"] == c.agent_id
    assert c.unlock("f")["released_at"]
    assert c.complete_task(c.post(channel, "t", kind="task")["id"])["status"] == "done"
    assert c.whoami()["session"]["agent_id"] == c.agent_id
    other = relayed("b")

    def reply():
        (m,) = other.poll(timeout=WAIT_SEC, channel="direct")
        other.dm(c.agent_id, "yes", kind="task_result", reply_to=m["id"])

    other.bootstrap()
    background(reply)
    assert c.call(other.agent_id, "?", timeout=WAIT_SEC)["body"] == "yes"
    with pytest.raises(HubError) as caught:
        c.post("nowhere", "x")
    assert (caught.value.code, caught.value.status) == ("channel_not_found", 400)
    c.close()
    assert c.session_id is None
    until(lambda: files(forwarder.spool) == [], "the end of all files")


def test_form_of_a_request(forwarder, relayed):
    c = relayed("a@x")
    c.post("general", "b")
    c.bootstrap()
    write, read = forwarder.taken
    assert write.keys() == {"request_id", "agent_id", "method", "path", "body", "created_at"}
    assert (write["agent_id"], write["method"], write["path"]) == (c.agent_id, "POST", "/v1/messages")
    assert write["body"] == {"from_agent": c.agent_id, "channel": "general", "body": "b", "kind": "chat"}
    assert write["created_at"].endswith("Z")
    assert read["body"] is None
    assert read["path"] == "/v1/bootstrap?agent_id=" + urllib.parse.quote(c.agent_id, safe="")
    assert write["request_id"][:12] <= read["request_id"][:12]


@pytest.mark.skipif(os.name == "nt", reason="needs another system than Windows, which has no such modes")
def test_files_are_for_this_user_alone_and_appear_whole(forwarder, relayed, monkeypatch):
    c = relayed()
    seen = []
    real = os.replace

    def replace(source, target):
        seen.append((os.path.basename(source), os.path.basename(target), stat.S_IMODE(os.stat(source).st_mode)))
        with open(source, encoding="utf-8") as whole:
            json.load(whole)
        real(source, target)

    monkeypatch.setattr(os, "replace", replace)
    c.post("general", "b")
    ((source, target, mode),) = seen
    assert source.startswith(".tmp-")
    assert target == forwarder.taken[0]["request_id"] + ".json"
    assert mode == 0o600
    folder = relay_folder(c.agent_id)
    for part in ("requests", "responses"):
        assert stat.S_IMODE((forwarder.spool / part / folder).stat().st_mode) == 0o700


def test_the_content_is_synced_before_it_is_named_and_the_name_after(forwarder, relayed, monkeypatch):
    steps = []

    def watched(function):
        real = getattr(os, function)

        def step(*args):
            steps.append(function)
            return real(*args)

        return step

    for function in ("fsync", "replace"):
        monkeypatch.setattr(os, function, watched(function))
    relayed().post("general", "b")
    assert steps == (["fsync", "replace", "fsync"] if os.name != "nt" else ["fsync", "replace"])


def test_a_relative_spool_stays_where_it_was(forwarder, hub, name, monkeypatch, tmp_path):
    monkeypatch.chdir(forwarder.spool.parent)
    with HubClient.over_relay(name("a"), forwarder.spool.name) as c:
        monkeypatch.chdir("/")
        assert c.bootstrap()


# Nobody forwards.


def test_without_a_spool(tmp_path):
    with HubClient.over_relay("dev", str(tmp_path / "none")) as c, pytest.raises(HubError) as caught:
        c.post("general", "x")
    e = caught.value
    assert (e.status, e.code) == (597, "spool_failed")
    assert "hubcli relay --spool-dir" in e.fix
    assert "outcome" not in e.detail
    assert list(tmp_path.iterdir()) == []


def test_a_request_that_nobody_takes_is_withdrawn(tmp_path):
    with HubClient.over_relay("dev", str(tmp_path), timeout=0.2) as c:
        began = time.monotonic()
        with pytest.raises(HubError) as caught:
            c.post("general", "x")
        assert 0.2 <= time.monotonic() - began < 5
    e = caught.value
    assert (e.status, e.code, e.detail["outcome"]) == (598, "relay_timeout", "none")
    assert "withdrawn" in str(e)
    assert files(tmp_path) == []


def test_a_request_that_was_taken_and_not_answered_is_of_unknown_outcome(forwarder, relayed):
    forwarder.reply = lambda request: None
    c = relayed(timeout=1)
    with pytest.raises(HubError) as caught:
        c.post("general", "x")
    e = caught.value
    assert (e.status, e.code, e.detail["outcome"]) == (598, "relay_timeout", "unknown")
    assert e.detail["request_id"] == forwarder.taken[0]["request_id"]


def test_an_answer_that_comes_while_the_request_is_withdrawn_is_taken(forwarder, hub, name, monkeypatch):
    """A forwarder takes and answers the request between the last look and the withdrawal."""
    me = name("a")
    forwarder.close()
    transport = RelayTransport(me, forwarder.spool, 0.1)
    real = os.unlink

    def unlink(path, *args, **options):
        monkeypatch.setattr(os, "unlink", real)
        forwarder.write(relay_folder(me), "k-" + me, json.dumps(answered({"request_id": "k-" + me}, 200, GOOD)))
        os.rename(path, path + ".taken")
        real(path, *args, **options)

    monkeypatch.setattr(os, "unlink", unlink)
    response = transport.send(Request("POST", "/v1/messages", b"{}", "k-" + me, timeout=0.1))
    assert json.loads(response.body) == GOOD
    assert list(forwarder.spool.glob("responses/*/*")) == []


def test_an_interrupted_call_withdraws_its_request(tmp_path, monkeypatch):
    def interrupt(_seconds):
        raise KeyboardInterrupt

    transport = RelayTransport("dev", tmp_path)
    monkeypatch.setattr("hubclient.relay.time.sleep", interrupt)
    with pytest.raises(KeyboardInterrupt):
        transport.send(Request("GET", "/v1/bootstrap?agent_id=dev"))
    assert files(tmp_path) == []


def test_sending_a_key_again_asks_for_the_same_request(forwarder, hub, name):
    me, thread = name("a"), name("thread")
    transport = RelayTransport(me, forwarder.spool)
    body = json.dumps({"from_agent": me, "body": "once", "thread_id": thread}).encode()
    request = Request("POST", "/v1/messages", body, "k-" + me)
    first, second = transport.send(request), transport.send(request)
    assert json.loads(first.body) == json.loads(second.body)
    assert len(raw_get(f"{hub.url}/v1/messages?thread_id={thread}")["result"]) == 1


def test_a_key_that_can_be_no_file_is_refused(tmp_path):
    for key in ("../x", "", ".x", "a/b", "a" * 129, "a\n"):
        with pytest.raises(InvalidInput):
            RelayTransport("dev", tmp_path).send(Request("POST", "/v1/messages", b"{}", key))
    assert files(tmp_path) == []


def test_a_disk_that_is_full(tmp_path, monkeypatch):
    def full(_fd, _data):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with HubClient.over_relay("dev", str(tmp_path)) as c, pytest.raises(HubError) as caught:
        c.bootstrap()
    assert (caught.value.status, caught.value.code) == (597, "spool_failed")
    assert "No space left on device" in str(caught.value)
    monkeypatch.undo()
    assert files(tmp_path) == []


def test_a_folder_that_was_cleared_away_is_made_again(forwarder, relayed, monkeypatch):
    cleared, real = [], os.open

    def clear_first(path, *args):
        if not cleared:
            cleared.append(os.path.dirname(path))
            os.rmdir(cleared[0])  # as a forwarder does with idle folders
        return real(path, *args)

    c = relayed()
    c.bootstrap()
    folder = forwarder.spool / "requests" / relay_folder(c.agent_id)
    until(lambda: not list(folder.iterdir()), "the end of the forwarder's work")
    monkeypatch.setattr(os, "open", clear_first)
    c.bootstrap()
    assert cleared == [str(folder)]


def test_a_folder_that_is_a_link_or_a_file(tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for kind in ("link", "file"):
        spool = tmp_path / kind
        (spool / "requests").mkdir(parents=True)
        if kind == "link":
            (spool / "requests" / "dev").symlink_to(elsewhere, target_is_directory=True)
        else:
            (spool / "requests" / "dev").write_text("x")
        with HubClient.over_relay("dev", str(spool)) as c, pytest.raises(HubError) as caught:
            c.bootstrap()
        assert caught.value.code == "spool_failed"
    assert files(elsewhere) == []


def test_a_request_that_is_too_large(tmp_path):
    with HubClient.over_relay("dev", str(tmp_path)) as c, pytest.raises(HubError) as caught:
        c.post("general", "x" * (33 << 20))
    assert (caught.value.status, caught.value.code) == (413, "request_too_large")
    assert files(tmp_path) == []


# Answers are other people's files.


def bad_answer(forwarder, relayed, place):
    """Puts something in the place of an answer and returns the error of the call."""
    c = relayed(timeout=WAIT_SEC)
    folder = forwarder.spool / "responses" / relay_folder(c.agent_id)

    def reply(request):
        place(folder / (request["request_id"] + ".json"), request)

    forwarder.reply = reply
    with pytest.raises(HubError) as caught:
        c.post("general", "x")
    return caught.value


def written(text):
    def place(path, request):
        temp = path.with_name(".tmp-x")
        temp.write_bytes(text(request) if callable(text) else text)
        temp.rename(path)

    return place


def secret_link(path, request):
    secret = path.parent.parent / "secret"
    secret.write_text(json.dumps(answered(request, 200, GOOD)))
    path.symlink_to(secret)


def sparse(path, request):
    temp = path.with_name(".tmp-x")
    with temp.open("wb") as f:
        f.truncate(10 << 30)
    temp.rename(path)


HOSTILE = {
    "empty": written(b""),
    "half": written(b'{"request_id":'),
    "nul": written(b"\0" * 100),
    "utf-16": written('{"request_id":"x"}'.encode("utf-16")),
    "deep": written(b"[" * 100_000),
    "no object": written(b"[]"),
    "another request": written(lambda r: json.dumps(answered({"request_id": "other"}, 200, GOOD)).encode()),
    "no status": written(lambda r: json.dumps(answered(r, "200", GOOD)).encode()),
    "no body": written(lambda r: json.dumps({**answered(r, 200, GOOD), "body": None}).encode()),
    "headers": written(lambda r: json.dumps({**answered(r, 200, GOOD), "headers": [1]}).encode()),
    "half a character": written(lambda r: json.dumps(answered(r, 200, GOOD)).encode() + b"\xed\xa0\xbd"),
    "folder": lambda path, _: path.mkdir(),
    "link": secret_link,
    "dangling link": lambda path, _: path.symlink_to(path.parent / "nothing"),
    "loop": lambda path, _: path.symlink_to(path),
    "sparse": sparse,
}
if hasattr(os, "mkfifo"):
    HOSTILE["fifo"] = lambda path, _: os.mkfifo(path)


@pytest.mark.parametrize("kind", sorted(HOSTILE))
def test_a_hostile_answer_is_none(forwarder, relayed, kind):
    e = bad_answer(forwarder, relayed, HOSTILE[kind])
    assert (e.status, e.code, e.detail["outcome"]) == (597, "spool_failed", "unknown")
    assert e.detail["request_id"] == e.detail["idempotency_key"]
    if kind in ("fifo", "folder", "link", "dangling link"):
        assert "not a regular file" in e.error
    left = [p for p in (forwarder.spool / "responses").rglob("*.json") if kind != "folder"]
    assert left == []


def test_an_answer_that_is_no_envelope(forwarder, relayed):
    e = bad_answer(forwarder, relayed, written(lambda r: json.dumps(answered(r, 200, {"x": 1})).encode()))
    assert e.code == "not_a_hub"


@pytest.mark.parametrize(("status", "code"), [(599, "unreachable"), (403, "not_relayed"), (400, "invalid")])
def test_what_a_forwarder_says_is_an_error_of_its_status(forwarder, relayed, status, code):
    envelope = {
        "ok": False,
        "error": "a sentence",
        "code": code,
        "status": status,
        "detail": {"a": 1},
        "fix": "a way out",
    }
    forwarder.reply = lambda request: answered(request, status, envelope)
    with pytest.raises(HubError) as caught:
        relayed().bootstrap()
    e = caught.value
    assert (e.error, e.status, e.code, e.detail, e.fix, e.envelope) == (
        "a sentence",
        status,
        code,
        {"a": 1},
        "a way out",
        envelope,
    )


# Waits.


def test_long_waits_come_in_slices(forwarder, relayed, monkeypatch):
    monkeypatch.setattr(RelayTransport, "max_wait", 0.2)
    c = relayed()
    c.bootstrap()
    before = len(forwarder.taken)
    began = time.monotonic()
    assert c.poll(timeout=2, channel="direct") == []
    assert time.monotonic() - began >= 2
    waits = [float(urllib.parse.parse_qs(r["path"])["timeout"][0]) for r in forwarder.taken[before:]]
    assert len(waits) >= 3
    assert max(waits) <= 0.2


def test_slices_are_at_most_twenty_seconds():
    assert RelayTransport.max_wait <= 20


def test_a_parked_poll_delays_no_post(forwarder, relayed, background):
    c, other = relayed(), relayed("other")
    c.bootstrap()
    joined = background(lambda: c.poll(timeout=WAIT_SEC, channel="direct"))
    until(lambda: any("/v1/events" in r["path"] for r in forwarder.taken), "the poll")
    c.post("general", "while it waits")
    other.dm(c.agent_id, "wake")
    assert [m["body"] for m in joined()] == ["wake"]


def test_a_call_that_waits_has_the_transports_timeout_at_least(tmp_path):
    began = time.monotonic()
    with pytest.raises(HubError):
        RelayTransport("dev", tmp_path, 0.6).send(Request("GET", "/v1/events", wait=0.1, timeout=0.2))
    assert time.monotonic() - began >= 0.6


def test_a_replaced_store_is_noticed(forwarder, relayed):
    c = relayed()
    c.bootstrap()
    page = {"ok": True, "result": [], "next_since_id": 0}
    forwarder.reply = lambda request: answered(request, 200, page, {"X-Hub-Instance": "0" * 32})
    with pytest.raises(HubError) as caught:
        c.poll(timeout=0)
    assert caught.value.code == "store_changed"


def test_close_does_not_wait_long_for_a_forwarder_that_is_gone(forwarder, relayed):
    c = relayed()
    c.register()
    forwarder.close()
    c._calls.timeout = 0.3
    began = time.monotonic()
    c.close()
    assert time.monotonic() - began < 4
    assert files(forwarder.spool) == []
