"""Starting, stopping and deleting hubs, by way of the real executable."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import hubclient
from conftest import WAIT_SEC, free_port, raw_get, until
from hubclient import (
    HubClient,
    HubConfig,
    HubError,
    InvalidInput,
    create_relay,
    create_server,
    data_root,
    default_app_db,
    ensure_hub,
    reset_hub,
    stop_hub,
)

SOURCE = str(Path(hubclient.__file__).parents[1])


@pytest.fixture(autouse=True)
def own_world(executable, tmp_path, monkeypatch):
    """A data root and a working folder of each test, and the executable in HUBCLI."""
    monkeypatch.setenv("HUB_DATA_ROOT", str(tmp_path / "data"))
    monkeypatch.setenv("HUBCLI", executable)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def port():
    number = free_port()
    yield number
    stop_hub(None, port=number)


def gone(port):
    with HubClient("probe", f"http://127.0.0.1:{port}") as c:
        try:
            c.bootstrap()
        except HubError as e:
            return e.code == "unreachable"
    return False


def failed(call, *args, **options):
    with pytest.raises(HubError) as caught:
        call(*args, **options)
    e = caught.value
    assert e.error
    assert not e.error.startswith("hubcli: ")
    return e


# ensure, stop, reset.


def test_ensure_starts_one_hub_and_finds_it_again(port):
    first = ensure_hub(port=port)
    assert first["started"] is True
    assert first["base_url"] == f"http://127.0.0.1:{port}"
    assert first["storage_path"] == str(default_app_db())
    assert first["pid"] == raw_get(first["base_url"] + "/v1/app/status")["result"]["pid"]
    again = ensure_hub(port=port)
    assert again["started"] is False
    assert again["instance_id"] == first["instance_id"]
    with HubClient.quickstart("a", first["base_url"]) as c:
        assert c.post("general", "x")["id"] == 1


def test_ensure_of_many_starts_one(port, background):
    joined = [background(lambda: ensure_hub(port=port)) for _ in range(4)]
    found = [join() for join in joined]
    assert [f["started"] for f in found].count(True) == 1
    assert len({f["instance_id"] for f in found}) == 1


def test_ensure_hands_its_options_on(port, tmp_path):
    ensure_hub(
        tmp_path / "my store",
        port=port,
        spool_dir=tmp_path / "spool",
        timeout=30,
        max_body_chars=10,
        max_attachment_chars=11,
        max_attachments=0,
    )
    info = raw_get(f"http://127.0.0.1:{port}/v1/hub-info")["result"]
    assert info["storage_path"] == str(tmp_path / "my store")
    assert (info["max_body_chars"], info["max_attachment_chars"], info["max_attachments"]) == (10, 11, 0)
    until((tmp_path / "spool").is_dir, "the spool")


def test_ensure_warns_of_options_that_the_running_hub_has_not(port):
    ensure_hub(port=port)
    with pytest.warns(RuntimeWarning, match="--max-body-chars is 128000"):
        ensure_hub(port=port, max_body_chars=5)


def test_ensure_of_another_store_is_refused(port, tmp_path):
    ensure_hub(port=port)
    e = failed(ensure_hub, tmp_path / "other", port=port)
    assert "serves the store" in e.error
    assert e.fix
    assert e.detail["exit_code"] == 1


def test_ensure_passes_on_what_the_executable_refuses(tmp_path):
    assert failed(ensure_hub, port=0).code == "usage"
    assert failed(ensure_hub, host="0.0.0.0").fix.startswith("leave --host out, or add --allow-remote")
    plain = tmp_path / "plain"
    plain.write_text("a file")
    e = failed(ensure_hub, plain, port=free_port(), timeout=10)
    assert "plain" in e.error
    assert plain.read_text() == "a file"
    for bad in ("6969", None, True):
        with pytest.raises(InvalidInput):
            ensure_hub(port=bad)
    with pytest.raises(InvalidInput):
        ensure_hub(timeout=-1)


def test_stop_defaults_to_the_standalone_store(port, tmp_path):
    ensure_hub("hub.sqlite3", port=port)
    stop_hub(port=port)
    assert gone(port)
    ensure_hub(port=port)  # the application's store: not the one that stop means
    e = failed(stop_hub, port=port)
    assert "hub.sqlite3" in e.error
    assert not gone(port)
    stop_hub(default_app_db(), port=port)
    assert gone(port)
    stop_hub(port=port)  # none runs: no error


def test_stop_of_whatever_runs(port):
    ensure_hub(port=port)
    stop_hub(None, port=port)
    assert gone(port)


def test_reset_deletes_the_standalone_store_without_asking(port, tmp_path):
    url = ensure_hub("hub.sqlite3", port=port)["base_url"]
    with HubClient("a", url) as c:
        c.post("general", "x")
    assert (tmp_path / "hub.sqlite3").is_dir()
    reset_hub(port=port)
    assert gone(port)
    assert not (tmp_path / "hub.sqlite3").exists()
    reset_hub(port=port)  # nothing there: no error


def test_reset_refuses_what_is_no_store_or_anothers(port, tmp_path):
    folder = tmp_path / "precious"
    folder.mkdir()
    (folder / "file").write_text("x")
    assert failed(reset_hub, folder, port=port).error
    assert (folder / "file").read_text() == "x"
    ensure_hub(port=port)
    assert failed(reset_hub, tmp_path / "hub.sqlite3", port=port).detail["exit_code"] == 1
    assert not gone(port)
    reset_hub(None, port=port)
    assert not default_app_db().exists()


# The executable.


def test_where_the_executable_is_found(executable, monkeypatch, tmp_path, port):
    monkeypatch.delenv("HUBCLI")
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "hubcli").symlink_to(executable)
    monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)
    stop_hub(None, port=port)
    monkeypatch.setenv("PATH", str(tmp_path))
    e = failed(stop_hub, None, port=port)
    assert e.code == "executable_not_found"
    assert "HUBCLI" in e.fix
    assert "go run ./internal/pack" in e.fix
    stop_hub(None, port=port, executable=executable)
    monkeypatch.setenv("HUBCLI", executable)
    stop_hub(None, port=port)
    assert failed(stop_hub, None, port=port, executable=tmp_path / "none").code == "executable_not_found"
    with pytest.raises(HubError):
        create_server(executable=tmp_path / "none")


def test_something_else_is_not_the_executable(port):
    assert failed(ensure_hub, port=port, executable="true").code == "usage"
    for call in (stop_hub, reset_hub):
        e = failed(call, port=port, executable="true")
        assert (e.code, e.fix) == ("usage", "see that it is this project's hubcli")
        assert failed(call, port=port, executable="echo").code == "usage"
    e = failed(ensure_hub, port=port, executable="false")
    assert e.error == "hubcli ensure ended with exit code 1"


# Where things lie.


@pytest.mark.parametrize(
    "env",
    [
        {"HUB_DATA_ROOT": "/a/b"},
        {"HUB_DATA_ROOT": "rel/../x/./y/"},
        {"HUB_DATA_ROOT": "", "HOME": "/home/u"},
        {"HOME": "/home/u/", "XDG_DATA_HOME": "/xdg/../xdg2/"},
        {"HOME": "/home/u", "XDG_DATA_HOME": "relative"},
        {"HOME": "/home/u", "XDG_DATA_HOME": ""},
        {"XDG_DATA_HOME": "/xdg"},
        {"HUB_DATA_ROOT": "//double//slash"},
        {},
        {"HOME": ""},
    ],
)
def test_data_root_is_what_the_executable_says(executable, env, monkeypatch, tmp_path):
    for variable in ("HUB_DATA_ROOT", "HOME", "XDG_DATA_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(variable, raising=False)
    for variable, value in env.items():
        monkeypatch.setenv(variable, value)
    done = subprocess.run([executable, "data-root"], capture_output=True, text=True, check=False)
    if done.returncode == 0:
        assert str(data_root()) == done.stdout.rstrip("\n")
        assert default_app_db() == data_root() / "app.db"
    else:
        e = failed(data_root)
        assert f"hubcli: {e.error}\nfix: {e.fix}\n" == done.stderr
    assert list(tmp_path.iterdir()) == []


# Servers that end with their program.


def test_config_is_frozen_and_has_the_specified_defaults():
    c = HubConfig()
    assert (c.host, c.port, c.storage, c.allow_remote, c.quiet, c.spool_dir) == (
        "127.0.0.1", 6969, "hub.sqlite3", False, False, ".hub-relay",
    )  # fmt: skip
    assert (c.max_body_chars, c.max_attachment_chars, c.max_attachments) == (128_000, 256_000, 32)
    with pytest.raises(AttributeError):
        c.port = 1


def test_config_has_all_root_flags(executable):
    done = subprocess.run([executable, "--help"], capture_output=True, text=True, check=True)
    flags = set(re.findall(r"^ +(?:-\w, )?--([a-z-]+)", done.stdout.partition("\nFlags:")[2], re.MULTILINE))
    fields = {name.replace("_", "-") for name in HubConfig.__dataclass_fields__}
    # A person adopts a store once; a program that did it at each start would adopt whatever stands there.
    assert flags - {"help", "version", "adopt"} == fields


def test_server_starts_stops_and_starts_again(tmp_path):
    server = create_server(HubConfig(port=free_port(), storage=tmp_path / "s", quiet=True, max_body_chars=5))
    assert server.pid is None
    server.stop()
    server.wait()
    for expected in (1, 2):
        server.start()
        server.start()
        pid = server.pid
        assert os.getpgid(pid) != os.getpgid(0)  # Ctrl-C reaches the program alone, which stops the hub once
        assert raw_get(server.url + "/v1/app/status")["result"]["pid"] == pid
        with HubClient("a", server.url) as c:
            assert c.post("general", "five5")["id"] == expected
            with pytest.raises(HubError):
                c.post("general", "six six")
        server.stop()
        assert server.pid is None
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_server_on_a_free_port_tells_it(tmp_path, capfd):
    with create_server(HubConfig(port=0, storage=tmp_path / "s")) as server:
        assert raw_get(server.url + "/healthz")["ok"]
        port = int(server.url.rpartition(":")[2])
    assert gone(port)
    assert f"ready at {server.url}" in capfd.readouterr().err
    with pytest.raises(InvalidInput):
        create_server(HubConfig(port=0, quiet=True))


def test_server_that_cannot_start_says_why(tmp_path):
    port = free_port()
    with create_server(HubConfig(port=port, storage=tmp_path / "s", quiet=True)) as running:
        e = failed(create_server(HubConfig(port=port, storage=tmp_path / "t", quiet=True)).start)
        assert f"port {port} is held by a hub with another store" in e.error
        assert e.fix
        assert e.detail["exit_code"] == 3
        assert raw_get(running.url + "/healthz")["ok"]
    assert not (tmp_path / "t").exists()
    assert failed(create_server(HubConfig(host="192.0.2.1")).start).code == "usage"


def test_server_that_is_killed_is_a_failure_for_who_waits(tmp_path, background):
    server = create_server(HubConfig(port=free_port(), storage=tmp_path / "s", quiet=True))
    server.start()
    joined = background(lambda: failed(server.wait))
    os.kill(server.pid, signal.SIGKILL)
    assert joined().detail["exit_code"] == -9


def test_wait_ends_with_somebody_elses_stop(tmp_path, background):
    config = HubConfig(port=free_port(), storage=tmp_path / "s", quiet=True)
    server = create_server(config)
    server.start()
    joined = background(server.wait)
    stop_hub(config.storage, port=config.port)
    joined()
    assert server.pid is None


def test_server_is_stopped_before_an_error_leaves_with(tmp_path):
    port = free_port()
    with (
        contextlib.suppress(ZeroDivisionError),
        create_server(HubConfig(port=port, storage=tmp_path / "s", quiet=True)),
    ):
        _ = 1 / 0
    assert gone(port)


def program(text, *args):
    """Runs Python in another process, in a process group of its own.

    It takes signals as a program in a terminal does, also if these tests run under nohup.
    """
    text = "import signal; signal.signal(signal.SIGHUP, signal.SIG_DFL) if hasattr(signal, 'SIGHUP') else None; " + text
    env = {**os.environ, "PYTHONPATH": SOURCE}
    return subprocess.Popen(
        [sys.executable, "-u", "-c", text, *map(str, args)],
        env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip


CONFIG = "import sys; from hubclient import *; config = HubConfig(port=int(sys.argv[1]), storage=sys.argv[2]); "
SERVE = CONFIG + "run_server(config); print('ended')"
FORGET = CONFIG + "server = create_server(config); server.start(); print(server.pid)"


@pytest.mark.skipif(os.name == "nt", reason="needs another system than Windows, which has no such signals")
@pytest.mark.parametrize("number", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_run_server_stops_cleanly_on_a_signal(tmp_path, number):
    port = free_port()
    child = program(SERVE, port, tmp_path / "s")
    try:
        until(lambda: not gone(port), "the hub")
        with HubClient("a", f"http://127.0.0.1:{port}") as c:
            c.post("general", "kept")
        os.killpg(child.pid, getattr(signal, number))  # as a terminal does: to the whole group
        out, err = child.communicate(timeout=WAIT_SEC)
    finally:
        child.kill()
        child.wait()
    assert (out, child.returncode) == ("ended\n", 0)
    assert "Traceback" not in err
    assert gone(port)
    with (
        create_server(HubConfig(port=port, storage=tmp_path / "s", quiet=True)) as again,
        HubClient("a", again.url) as c,
    ):
        assert [m["body"] for m in c.poll(timeout=0, exclude_self=False)] == ["kept"]


@pytest.mark.skipif(os.name == "nt", reason="needs another system than Windows, which has no such signals")
def test_run_server_leaves_an_ignored_signal_ignored():
    """A program under nohup outlives its terminal."""
    from hubclient.server import _interrupted_by_sigterm

    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with _interrupted_by_sigterm():
            os.kill(os.getpid(), signal.SIGHUP)
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
            with pytest.raises(KeyboardInterrupt):
                os.kill(os.getpid(), signal.SIGTERM)
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_a_stopped_server_is_watched_over_no_longer(tmp_path):
    server = create_server(HubConfig(port=free_port(), storage=tmp_path / "s", quiet=True))
    for _ in range(2):
        server.start()
        finalizer = server._finalizer
        assert finalizer.alive
        server.stop()
        assert not finalizer.alive


def test_run_server_ends_with_its_hub(tmp_path, background):
    port = free_port()
    config = HubConfig(port=port, storage=tmp_path / "s", quiet=True)
    joined = background(lambda: hubclient.run_server(config))  # not the main thread: no signal is touched
    until(lambda: not gone(port), "the hub")
    stop_hub(config.storage, port=port)
    joined()
    assert threading.main_thread() is threading.current_thread()


def test_run_server_that_cannot_start_is_an_error():
    assert failed(hubclient.run_server, HubConfig(host="192.0.2.1")).code == "usage"


def test_a_server_that_was_left_running_ends_with_the_program(tmp_path):
    port = free_port()
    child = program(FORGET, port, tmp_path / "s")
    out, _ = child.communicate(timeout=WAIT_SEC)
    assert child.returncode == 0
    assert gone(port)
    with pytest.raises(ProcessLookupError):
        os.kill(int(out), 0)


@pytest.mark.skipif(os.name == "nt", reason="needs another system than Windows, which has no such signals")
def test_a_server_ends_with_a_program_that_is_killed(tmp_path):
    port = free_port()
    child = program(SERVE, port, tmp_path / "s")
    try:
        until(lambda: not gone(port), "the hub")
        os.kill(child.pid, signal.SIGKILL)
        child.communicate(timeout=WAIT_SEC)
        until(lambda: gone(port), "the end of the hub")
    finally:
        child.kill()
        child.wait()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a system that forks")
def test_a_forked_process_leaves_its_parents_server_alone(tmp_path):
    text = """
import os, sys
from hubclient import *
with create_server(HubConfig(port=int(sys.argv[1]), storage=sys.argv[2], quiet=True)) as server:
    if os.fork() == 0:
        sys.exit()  # with its exit handlers
    os.wait()
    with HubClient("a", server.url) as c:
        print(c.post("general", "x")["id"])
"""
    child = program(text.replace("sys.exit()", "raise SystemExit"), free_port(), tmp_path / "s")
    # The child's `with` ends too; it is its copy of the server that must not be stopped.
    out, err = child.communicate(timeout=WAIT_SEC)
    assert out == "1\n", err


# The relay.


def test_relay_as_a_child(tmp_path, name):
    spool = tmp_path / "spool"
    with create_server(HubConfig(port=free_port(), storage=tmp_path / "s", quiet=True)) as server:
        with create_relay(spool, server.url) as relay, HubClient.over_relay(name("a"), str(spool)) as c:
            assert relay.pid
            assert c.post("general", "x")["assurance"] == "relay"
        assert relay.pid is None


def test_relay_passes_on_what_the_executable_refuses(tmp_path):
    spool = tmp_path / "spool"
    for _ in range(2):  # also where the spool is there
        assert failed(create_relay(spool, "nonsense").start).code == "usage"
        (spool / "requests").mkdir(parents=True, exist_ok=True)
    for options in ({"poll_interval_sec": -1}, {"request_timeout_sec": float("nan")}):
        with pytest.raises(InvalidInput):
            create_relay(tmp_path, **options)


@pytest.mark.skipif(os.name == "nt", reason="needs another system than Windows, which has no such signals")
def test_run_relay_stops_on_a_signal(tmp_path):
    text = "import sys; from hubclient import *; run_relay(sys.argv[1], 'http://127.0.0.1:1'); print('ended')"
    child = program(text, tmp_path / "spool")
    try:
        until((tmp_path / "spool" / "requests").is_dir, "the spool")
        os.killpg(child.pid, signal.SIGINT)
        out, _ = child.communicate(timeout=WAIT_SEC)
    finally:
        child.kill()
        child.wait()
    assert (out, child.returncode) == ("ended\n", 0)


def test_command_output_is_json(executable, port):
    """ensure_hub returns what `hubcli ensure --json` prints."""
    got = ensure_hub(port=port)
    done = subprocess.run(
        [executable, "ensure", "--json", "--port", str(port)], capture_output=True, text=True, check=True
    )
    said = json.loads(done.stdout)
    assert {k: v for k, v in got.items() if k != "pid"} == {**said, "started": True}
