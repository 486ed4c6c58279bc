"""HUB_BASE_URL and HUB_AGENT: what the environment says where the caller does not."""

import os

import pytest

from conftest import free_port, raw_get
from hubclient import (
    HttpTransport,
    HubClient,
    HubConfig,
    HubError,
    InvalidInput,
    create_relay,
    ensure_hub,
    reset_hub,
    stop_hub,
)

LOCAL = "http://127.0.0.1:6969"


@pytest.fixture
def says(monkeypatch):
    """Sets variables of the environment: says(HUB_AGENT="dev")."""

    def say(**variables):
        for name, value in variables.items():
            monkeypatch.setenv(name, value)

    return say


def address(client):
    return repr(client).rsplit("'", 2)[1]


def test_the_address_is_that_of_the_environment(says, hub, name):
    says(HUB_BASE_URL=hub.url)
    assert HttpTransport().base_url == hub.url
    assert address(HubClient("a")) == hub.url
    with HubClient.quickstart(name("dev")) as dev:
        assert address(dev) == hub.url
        assert dev.post("general", "by the environment")["body"] == "by the environment"
        with HubClient.resume_mcp_identity(dev.session_id, dev.resume_key) as again:
            assert again.agent_id == dev.agent_id


def test_an_address_that_is_given_counts_more(says, hub):
    says(HUB_BASE_URL=hub.url)
    assert address(HubClient("a", LOCAL)) == LOCAL  # also where it is the default's text
    assert address(HubClient("a", base_url="http://127.0.0.1:1")) == "http://127.0.0.1:1"
    assert HttpTransport(LOCAL).base_url == LOCAL
    says(HUB_BASE_URL="nonsense")
    assert address(HubClient("a", LOCAL)) == LOCAL
    with pytest.raises(HubError) as refused:
        HubClient.quickstart("a", "http://127.0.0.1:1")
    assert refused.value.code == "unreachable"


def test_an_empty_address_is_none(says):
    says(HUB_BASE_URL="")
    assert address(HubClient("a")) == LOCAL


@pytest.fixture
def root(says, tmp_path):
    """A data root of its own."""
    says(HUB_DATA_ROOT=str(tmp_path / "data"), HUB_BASE_URL="")
    (tmp_path / "data").mkdir(mode=0o700)
    return tmp_path / "data"


def test_the_port_that_the_data_root_remembers_counts_least(says, root):
    assert address(HubClient("a")) == LOCAL
    (root / "port").write_text("6975\n")
    (root / "port").chmod(0o600)
    assert address(HubClient("a")) == "http://127.0.0.1:6975"
    assert HttpTransport().base_url == "http://127.0.0.1:6975"
    assert HubConfig().arguments()[:4] == ["--host", "127.0.0.1", "--port", "6975"]
    assert HubConfig(port=6969).arguments()[3] == "6969"
    assert address(HubClient("a", LOCAL)) == LOCAL  # an argument counts more
    says(HUB_BASE_URL="http://127.0.0.1:1")
    assert address(HubClient("a")) == "http://127.0.0.1:1"  # and so does the environment


def test_hubs_are_started_where_the_data_root_remembers(root, executable):
    port = free_port()
    (root / "port").write_text(str(port))
    (root / "port").chmod(0o600)
    with pytest.raises(HubError) as refused:
        HubClient.quickstart("a")
    assert (refused.value.code, refused.value.fix) == ("unreachable", "start one with: hubcli ensure")
    assert ensure_hub(executable=executable)["base_url"] == f"http://127.0.0.1:{port}"
    try:
        with HubClient.quickstart("dev") as dev:
            assert dev.post("general", "where my hub is")["from_agent"] == "dev"
        assert not ensure_hub(host="127.0.0.1", executable=executable)["started"]
    finally:
        stop_hub(None, executable=executable)
    assert not list((root / "run").glob("*.sock"))


@pytest.mark.skipif(os.name == "nt", reason="needs a system whose files have a mode")
def test_what_others_may_have_written_sends_nobody_to_another_port(root):
    file, elsewhere = root / "port", root / "elsewhere"
    for text in ("", "0", "65536", "-1", "06975", "6975 6976", "http://127.0.0.1:6975", "6975" + " " * 64, "\u0666"):
        file.write_text(text, encoding="utf-8")
        file.chmod(0o600)
        assert address(HubClient("a")) == LOCAL, text
    file.write_text("6975")
    for mode in (0o620, 0o602):
        file.chmod(mode)
        assert address(HubClient("a")) == LOCAL, oct(mode)
    elsewhere.write_text("6975")
    file.unlink()
    file.symlink_to(elsewhere)
    assert address(HubClient("a")) == LOCAL
    file.unlink()
    os.mkfifo(file)
    assert address(HubClient("a")) == LOCAL
    file.unlink()
    file.mkdir()
    assert address(HubClient("a")) == LOCAL


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs root, to give a file away")
def test_the_port_of_another_user_is_none(root):
    (root / "port").write_text("6975")
    os.chown(root / "port", 65534, 65534)
    assert address(HubClient("a")) == LOCAL


def test_a_malformed_address_is_named(says):
    says(HUB_BASE_URL="ftp://h")
    with pytest.raises(InvalidInput) as refused:
        HubClient("a")
    assert refused.value.detail == {"field": "HUB_BASE_URL"}
    assert str(refused.value).startswith(
        "HUB_BASE_URL in the environment is no address of a hub: the base address does not begin with http"
    )
    assert refused.value.fix


def test_the_relay_takes_the_address(says, hub, tmp_path, name):
    says(HUB_BASE_URL=hub.url)
    with create_relay(tmp_path / "spool", executable=hub._executable):
        dev = HubClient.over_relay(name("dev"), str(tmp_path / "spool"))
        assert dev.register()["agent_id"] == dev.agent_id
        dev.close()


def test_hubs_are_started_and_stopped_at_the_address(says, executable, tmp_path):
    port, other, store = free_port(), free_port(), tmp_path / "store"
    says(HUB_BASE_URL=f"http://127.0.0.1:{port}")
    started = ensure_hub(store, executable=executable)
    assert started["base_url"] == f"http://127.0.0.1:{port}"
    assert raw_get(started["base_url"] + "/v1/hub-info")["result"]["storage_path"] == str(store)
    with pytest.raises(HubError, match=f"no hub runs at .*:{other}; the store .* is served by the hub at .*:{port} "):
        stop_hub(store, port=other, executable=executable)
    assert raw_get(started["base_url"] + "/healthz")
    stop_hub(store, executable=executable)
    assert ensure_hub(store, port=other, executable=executable)["base_url"] == f"http://127.0.0.1:{other}"
    stop_hub(store, port=other, executable=executable)
    reset_hub(store, executable=executable)
    assert not store.exists()
    says(HUB_BASE_URL="http://192.0.2.77:6969")
    with pytest.raises(HubError, match=r"HUB_BASE_URL is .*, which is no address of this machine"):
        ensure_hub(store, executable=executable)


def test_the_agent_of_the_environment_displaces_nobody(says, hub, name):
    me = name("dev")
    says(HUB_AGENT=me, HUB_BASE_URL=hub.url)
    with HubClient.quickstart("") as first:
        assert first.agent_id == me
        assert first.session_id
        with HubClient.quickstart("") as beside:
            assert (beside.agent_id, beside.session_id) == (me, None)
            assert beside.post("general", "beside the session")["from_agent"] == me
            with pytest.raises(HubError) as refused:
                beside.register()
            assert refused.value.code == "session_conflict"
        assert first.bootstrap()["session"]["agent_id"] == me
        assert any(agent["agent_id"] == me for agent in raw_get(hub.url + "/v1/agents")["result"])
        with HubClient.quickstart(me) as named:  # which is meant
            assert named.session_id != first.session_id


def test_an_agent_that_is_given_counts_more(says):
    says(HUB_AGENT="dev")
    assert HubClient("lead").agent_id == "lead"
    assert HubClient("").agent_id == "dev"
    says(HUB_AGENT="")
    with pytest.raises(InvalidInput) as refused:
        HubClient("")
    assert refused.value.detail == {"field": "agent_id"}


def test_the_agent_of_the_environment_through_a_spool(says, tmp_path):
    says(HUB_AGENT="dev")
    (tmp_path / "spool").mkdir()
    assert HubClient.over_relay("", str(tmp_path / "spool")).agent_id == "dev"
