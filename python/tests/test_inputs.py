"""Arguments that can be part of no call: refused by their names, and nothing is sent."""

from pathlib import Path

import pytest

from hubclient import (
    HttpTransport,
    HubClient,
    HubConfig,
    InvalidInput,
    RelayTransport,
    create_relay,
    create_server,
    ensure_hub,
    reset_hub,
    stop_hub,
)
from hubclient.inputs import seconds


class Silent:
    """A transport that counts what it is given and answers nothing."""

    base_url = "nowhere"
    max_wait = 60.0

    def __init__(self):
        self.sent = []

    def send(self, request):
        self.sent.append(request)
        raise AssertionError(f"{request} was sent")

    def close(self):
        pass


@pytest.fixture
def silent():
    transport = Silent()
    yield HubClient("me", transport=transport)
    assert transport.sent == []


def refused(field, call, *args, **options):
    with pytest.raises(InvalidInput) as caught:
        call(*args, **options)
    e = caught.value
    assert (e.code, e.status, e.detail) == ("invalid", 400, {"field": field})
    assert field in e.error
    return e


NOBODY = ["", None, 5, " ", "two words", "a\n", "-a", "ä", "a" * 65, b"b", ["b"]]


@pytest.mark.parametrize("to_agent", NOBODY)
def test_what_is_meant_for_one_agent_never_becomes_public(silent, to_agent):
    refused("to_agent", silent.dm, to_agent, "secret")
    refused("to_agent", silent.call, to_agent, "secret", timeout=0)
    if to_agent is not None:  # which makes a post public, as its documentation says
        refused("to_agent", silent.post, "general", "secret", to_agent=to_agent)


@pytest.mark.parametrize("channel", ["", None, 5])
def test_a_channel_is_named(silent, channel):
    refused("channel", silent.post, channel, "x")
    refused("channel", silent.dm, "b", "x", channel=channel)
    refused("channel", silent.call, "b", "x", channel=channel, timeout=0)


def test_the_argument_at_fault_is_named(silent):
    for bad in ("", None, 5, "\ud83d"):
        refused("thread_id", silent.get_thread, bad)
    for metadata in ({"a": {1}}, {"a": float("nan")}, {"a": "\ud83d"}, {"\ud83d": 1}):
        refused("metadata", silent.post, "general", "x", metadata=metadata)
        refused("metadata", silent.register, metadata=metadata)
    refused("body", silent.post, "general", b"x")
    refused("file_path", silent.lock, Path("a"))
    refused("file_path", silent.unlock, Path("a"))
    refused("claim_key", silent.claim, b"k")
    refused("name", silent.create_channel, "\ud83d")
    refused("thread_id", silent.poll, thread_id="\ud83d", timeout=0)
    silent.agent_id = "\ud83d"
    refused("agent_id", silent.create_channel, "x")
    refused("agent_id", silent.claim, "x")


@pytest.mark.parametrize("value", [-1, float("nan"), float("inf"), 1e10, 10**400, "1", None, True])
def test_a_time_is_a_number_of_seconds_up_to_ten_years(silent, value, tmp_path):
    refused("timeout", silent.poll, timeout=value)
    refused("timeout", silent.call, "b", "x", timeout=value)
    refused("poll_interval", silent.call, "b", "x", poll_interval=value)
    refused("timeout", HubClient, "a", timeout=value)
    refused("timeout", HttpTransport, timeout=value)
    refused("timeout", RelayTransport, "a", tmp_path, value)
    refused("timeout", ensure_hub, timeout=value)
    refused("poll_interval_sec", create_relay, tmp_path, poll_interval_sec=value, executable="true")
    with pytest.raises(InvalidInput):
        create_relay(tmp_path, executable="true").stop(value)


def test_ten_years_are_a_time_that_works(hub, name):
    decade = 10 * 365 * 86400
    assert seconds("timeout", decade) == decade
    with HubClient(name("patient"), hub.url, timeout=decade) as c:
        posted = c.post("general", "x")
        c.cursor = posted["id"] - 1
        assert c.poll(timeout=decade, exclude_self=False)[0] == posted


@pytest.mark.parametrize("port", [-1, 65536, 99999, "x", "6969", None, True, 1.5])
def test_a_port(port, executable):
    for call in (ensure_hub, stop_hub, reset_hub):
        refused("port", call, port=port, executable=executable)
    refused("port", create_server, HubConfig(port=port), executable=executable)


@pytest.mark.parametrize("host", [None, 5, ""])
def test_a_host(host, executable):
    for call in (ensure_hub, stop_hub, reset_hub):
        refused("host", call, host=host, executable=executable)
    refused("host", create_server, HubConfig(host=host), executable=executable)


@pytest.mark.parametrize("bad", [5, b"x", "", ["x"]])
def test_a_path(bad, executable):
    for call in (ensure_hub, stop_hub, reset_hub):
        refused("storage", call, bad, executable=executable)
        refused("executable", call, executable=bad)
    refused("spool_dir", ensure_hub, spool_dir=bad, executable=executable)
    refused("storage", create_server, HubConfig(storage=bad), executable=executable)
    refused("spool_dir", create_server, HubConfig(spool_dir=bad), executable=executable)
    refused("spool_dir", create_relay, bad, executable=executable)
    refused("spool_dir", RelayTransport, "a", bad)


@pytest.mark.parametrize("bad", [-1, "5", 1.5, True])
def test_a_limit(bad, executable):
    for field in ("max_body_chars", "max_attachment_chars", "max_attachments"):
        refused(field, ensure_hub, executable=executable, **{field: bad})
        refused(field, create_server, HubConfig(**{field: bad}), executable=executable)
