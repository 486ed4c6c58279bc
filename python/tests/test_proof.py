"""Nothing is sent to a program that has taken the hub's port."""

import base64
import hashlib
import hmac
import json
import os
import re
import stat
import sys

import pytest

from conftest import Hub, read_request
from hubclient import HttpTransport, HubClient, HubError, ensure_hub, stop_hub
from hubclient.daemon import data_root, failure
from hubclient.proof import Proofs
from test_http import good

KEY = bytes(range(32))


@pytest.fixture(autouse=True)
def root(monkeypatch, tmp_path):
    """A data root of the test's own."""
    monkeypatch.setenv("HUB_DATA_ROOT", str(tmp_path / "data"))
    return tmp_path / "data"


def write_note(port, host="127.0.0.1", **members):
    file = data_root() / "hubs" / f"{host.replace(':', '_')}_{port}"
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    note = {
        "version": 1,
        "address": f"{host}:{port}",
        "store": "/s",
        "instance_id": "i1",
        "socket": "",
        "proof_key": base64.urlsafe_b64encode(KEY).decode().rstrip("="),
        **members,
    }
    file.write_text(json.dumps(note), encoding="utf-8")
    file.chmod(0o600)
    return file


class Answering:
    """A program at a port that answers challenges as it is told, and all else as a hub would."""

    def __init__(self, server, prove, port=0):
        self.heard = []
        self._prove = prove
        self.server = server(self._serve, port=port)
        self.port, self.url = self.server.port, self.server.url

    def _serve(self, connection):
        while (request := read_request(connection)) is not None:
            head = request[0]
            self.heard.append(head.splitlines()[0] + (" with a session" if "X-Hub-Session" in head else ""))
            nonce = re.search(r"/v1/hub-info\?nonce=([0-9a-f]{32}) ", head)
            if nonce is None:
                connection.sendall(good())
                continue
            answer = self._prove(nonce[1], self.port)
            if answer is None:
                return
            connection.sendall(answer)


def proved(nonce, port, key=KEY, instance="i1", host="127.0.0.1"):
    said = f"hub-proof-1\n{nonce}\n{host}:{port}\n{instance}"
    return hmac.new(key, said.encode(), hashlib.sha256).hexdigest()


def informs(proof, status="200 OK", close=False):
    body = json.dumps({"ok": True, "result": {"instance_id": "i1", "proof": proof}}).encode()
    head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    return (head + "Connection: close\r\n" * close + "\r\n").encode() + body


def ask(there):
    with HubClient("a", there.url) as me:
        me.bootstrap()


def proving(there):
    return HttpTransport(there.url, headers={"X-Hub-Session": "s.secret"})


def test_the_hub_proves_itself_once_a_connection(server):
    hub = Answering(server, lambda nonce, port: informs(proved(nonce, port)))
    write_note(hub.port)
    with HubClient("a", transport=proving(hub)) as me:
        me.bootstrap()
        me.bootstrap()
    assert re.fullmatch(r"GET /v1/hub-info\?nonce=[0-9a-f]{32} HTTP/1.1", hub.heard[0])
    assert len(hub.heard) == 3
    assert all(head.endswith("with a session") for head in hub.heard[1:])


@pytest.mark.parametrize(
    "answer",
    [
        lambda nonce, port: good(),
        lambda nonce, port: informs(""),
        lambda nonce, port: informs(None),
        lambda nonce, port: informs("\ud800"),
        lambda nonce, port: informs(proved(nonce, port, key=bytes(32))),
        lambda nonce, port: informs(proved(nonce, port, instance="i2")),
        lambda nonce, port: informs(proved(nonce, port + 1)),
        lambda nonce, port: informs(proved("0" * 32, port)),
        lambda nonce, port: b"220 mail ready\r\n\r\n",
        lambda nonce, port: b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]",
        lambda nonce, port: b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
    ],
)
def test_an_impostor_is_sent_nothing(server, answer):
    there = Answering(server, answer)
    write_note(there.port)
    with HubClient("a", transport=proving(there)) as me:
        for attempt in range(2):
            with pytest.raises(HubError, match=r"^another program has the hub's port 127\.0\.0\.1:") as refused:
                me.dm("lead", "PRIVATE") if attempt else me.bootstrap()
            assert (refused.value.code, refused.value.status) == ("impostor", 0)
            assert "outcome" not in refused.value.detail
    assert len(there.heard) == 2
    assert all(head.startswith("GET /v1/hub-info?nonce=") and "session" not in head for head in there.heard)


def test_a_hub_that_starts_or_goes_away_is_no_impostor(server):
    for answer in (informs("", "503 Service Unavailable"), None):
        there = Answering(server, lambda nonce, port, answer=answer: answer)
        write_note(there.port)
        with pytest.raises(HubError) as refused:
            ask(there)
        assert refused.value.code == "broke_off"
    closing = Answering(server, lambda nonce, port: informs(proved(nonce, port), close=True))
    write_note(closing.port)
    with pytest.raises(HubError) as refused:
        ask(closing)
    assert refused.value.code == "broke_off"
    assert all("hub-info" in head for head in closing.heard)


def test_without_a_note_nothing_changes(server, monkeypatch):
    there = Answering(server, lambda nonce, port: None)
    ask(there)
    write_note(there.port + 1)
    ask(there)
    monkeypatch.delenv("HUB_DATA_ROOT")
    for name in ("HOME", "XDG_DATA_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    ask(there)
    assert not any("nonce" in head for head in there.heard)


def test_a_hub_on_all_addresses_is_found(server):
    for host in ("0.0.0.0", "::"):
        hub = Answering(server, lambda nonce, port: informs(proved(nonce, port)))
        write_note(hub.port, host)
        ask(hub)
        assert "nonce" in hub.heard[0]


def test_localhost_is_the_hub_that_is_noted():
    # The name stands for two addresses, and at the other one any program may listen.
    proofs = Proofs()
    assert proofs.numeric("localhost", 6969) == "localhost"
    write_note(6969, "::1")
    assert (proofs.numeric("LOCALHOST", 6969), proofs.numeric("localhost", 6970)) == ("::1", "localhost")
    write_note(6969)
    assert (proofs.numeric("localhost", 6969), proofs.numeric("127.0.0.2", 6969)) == ("127.0.0.1", "127.0.0.2")


def test_a_note_counts_when_its_file_is_gone(server):
    answers = []
    there = Answering(server, lambda nonce, port: informs(answers.pop(0)(nonce, port)))
    file = write_note(there.port)
    with HubClient("a", there.url) as me:
        answers += [proved, lambda nonce, port: ""]
        me.bootstrap()
        me.close()
        file.unlink()
        with pytest.raises(HubError) as refused:
            me.bootstrap()
    assert refused.value.code == "impostor"


@pytest.mark.parametrize(
    "spoil",
    [
        lambda file: file.write_text("{"),
        lambda file: file.write_text("[]"),
        lambda file: file.write_text(file.read_text().replace('"version": 1', '"version": 2')),
        lambda file: file.write_text(file.read_text().replace('"proof_key": "', '"proof_key": "AAAA')),
        lambda file: file.write_text(file.read_text().replace('"i1"', '""')),
        lambda file: (file.unlink(), file.mkdir()),
        lambda file: file.chmod(0o666) if os.name == "posix" else file.write_text(""),
    ],
)
def test_a_note_that_cannot_be_used_is_told(server, spoil):
    there = Answering(server, lambda nonce, port: informs(proved(nonce, port)))
    file = write_note(there.port)
    spoil(file)
    with pytest.raises(HubError, match="it cannot be told whether") as refused:
        ask(there)
    assert refused.value.code == "impostor"
    assert str(file) in refused.value.error
    assert there.heard == []


@pytest.mark.skipif(
    sys.platform == "win32" or os.geteuid() == 0, reason="needs another user than root, who reads everything"
)
def test_a_sandbox_that_cannot_read_the_note_goes_on(server):
    there = Answering(server, lambda nonce, port: None)
    file = write_note(there.port)
    file.parent.chmod(0)
    ask(there)
    file.parent.chmod(stat.S_IRWXU)


def test_the_real_hub_and_its_impostor(executable, server, root, tmp_path):
    """The client reads what the hub has noted, and neither stop_hub nor ensure_hub takes the impostor for the hub."""
    hub = Hub(executable, tmp_path)
    hub.start()
    with HubClient("a", hub.url) as me:
        me.bootstrap()
        hub.kill()
        there = Answering(server, lambda nonce, port: informs(""), port=hub.port)
        with pytest.raises(HubError) as refused:
            me.dm("lead", "PRIVATE")
        assert refused.value.code == "impostor"
        with pytest.raises(HubError) as refused:
            stop_hub(hub.storage, port=hub.port, executable=executable)
        assert (refused.value.code, refused.value.detail) == ("impostor", {"exit_code": 3})
        with pytest.raises(HubError, match="another program") as refused:
            ensure_hub(port=hub.port, executable=executable)
        assert refused.value.detail == {"exit_code": 3}
    assert there.heard
    assert all("hub-info" in head for head in there.heard)


def test_the_executable_says_that_it_is_an_impostor():
    words = "hubcli: another program has the hub's port 127.0.0.1:6969\nfix: see which\n"
    assert failure(words, 3, "hubcli ensure").code == "impostor"
    assert failure("hubcli: no hub answers\n", 3, "hubcli stop").code == "unreachable"
