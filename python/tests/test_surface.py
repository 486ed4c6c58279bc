"""The names and signatures that the specification fixes (section 4.3)."""

import inspect
import subprocess
import sys

import pytest

import hubclient
from hubclient import HubClient, HubError

# Kinds: a positional or keyword, k keyword only, ** the rest. Defaults by their repr.
SPECIFIED = {
    "bootstrap": [],
    "call": [
        "a to_agent: str", "a body: str", "k channel: str = 'direct'", "k timeout: float = 30.0",
        "k poll_interval: float = 1.0", "k metadata: Optional[dict[str, Any]] = None",
    ],
    "claim": [
        "a claim_key: str", "k thread_id: Optional[str] = None", "k task_message_id: Optional[int] = None",
        "k ttl_sec: int = 300", "k metadata: Optional[dict[str, Any]] = None",
    ],
    "close": [],
    "complete_task": ["a task_id: int"],
    "create_channel": ["a name: str", "k metadata: Optional[dict[str, Any]] = None"],
    "dm": ["a to_agent: str", "a body: str", "** options: Any"],
    "get_thread": ["a thread_id: str"],
    "lock": ["a file_path: str", "a ttl_sec: int = 300", "a metadata: Optional[dict[str, Any]] = None"],
    "over_relay": ["a agent_id: str", "a spool_dir: str = '.hub-relay'", "k timeout: float = 30.0"],
    "poll": [
        "k exclude_self: bool = True", "k timeout: float = 30.0", "k channel: Optional[str] = None",
        "k room_id: Optional[str] = None", "k thread_id: Optional[str] = None", "k limit: int = 100",
        "k max_chars: Optional[int] = None",
    ],
    "post": [
        "a channel: str", "a body: str", "k kind: str = 'chat'", "k thread_id: Optional[str] = None",
        "k to_agent: Optional[str] = None", "k attachments: Optional[list[dict[str, Any]]] = None",
        "k metadata: Optional[dict[str, Any]] = None", "k reply_to: Optional[int] = None",
        "k parent_task_id: Optional[int] = None",
    ],
    "quickstart": [
        "a agent_id: str", "a base_url: str = 'http://127.0.0.1:6969'", "k display_name: Optional[str] = None",
        "k capabilities: Optional[list[str]] = None", "k metadata: Optional[dict[str, Any]] = None",
        "k timeout: float = 15.0",
    ],
    "refresh_claim": ["a claim_key: str", "a ttl_sec: int = 300"],
    "register": [
        "k display_name: Optional[str] = None", "k replace: bool = True",
        "k capabilities: Optional[list[str]] = None", "k metadata: Optional[dict[str, Any]] = None",
    ],
    "release": ["a claim_key: str"],
    "resume_mcp_identity": [
        "a prior_session_id: str", "a resume_key: str", "a base_url: str = 'http://127.0.0.1:6969'",
        "k timeout: float = 15.0",
    ],
    "unlock": ["a file_path: str"],
    "whoami": [],
}  # fmt: skip

RESULTS = {
    "close": "None",
    "over_relay": "HubClient",
    "poll": "list[dict[str, Any]]",
    "quickstart": "HubClient",
    "resume_mcp_identity": "HubClient",
}

STATIC = {"over_relay", "quickstart", "resume_mcp_identity"}


def described(parameter):
    kind = {
        parameter.POSITIONAL_OR_KEYWORD: "a",
        parameter.KEYWORD_ONLY: "k",
        parameter.VAR_KEYWORD: "**",
    }[parameter.kind]
    default = "" if parameter.default is parameter.empty else f" = {parameter.default!r}"
    # Evaluated hints print differently on different Pythons, their source does not.
    default = default.replace("DEFAULT_BASE_URL", repr(hubclient.transport.DEFAULT_BASE_URL))
    return f"{kind} {parameter.name}: {parameter.annotation}{default}"


def public_methods():
    return {
        name: member
        for name, member in vars(HubClient).items()
        if not name.startswith("_") and (inspect.isfunction(member) or isinstance(member, (staticmethod, classmethod)))
    }


def test_there_are_the_nineteen_methods():
    assert sorted(public_methods()) == sorted(SPECIFIED)
    assert len(SPECIFIED) == 19


@pytest.mark.parametrize("method", sorted(SPECIFIED))
def test_signature(method):
    signature = inspect.signature(getattr(HubClient, method))
    parameters = [p for p in signature.parameters.values() if p.name != "self"]
    assert [described(p) for p in parameters] == SPECIFIED[method]
    assert signature.return_annotation == RESULTS.get(method, "dict[str, Any]")
    assert isinstance(vars(HubClient)[method], staticmethod) == (method in STATIC)
    assert inspect.getdoc(getattr(HubClient, method))


def test_constructor():
    parameters = list(inspect.signature(HubClient).parameters.values())
    assert [described(p) for p in parameters] == [
        "a agent_id: str",
        "a base_url: str = 'http://127.0.0.1:6969'",
        "a timeout: float = 15.0",
        "k transport: Optional[Transport] = None",
    ]


def test_hints_resolve_at_run_time():
    import typing

    for name in SPECIFIED:
        assert "return" in typing.get_type_hints(getattr(HubClient, name))


def test_exports():
    exported = set(hubclient.__all__)
    assert {
        "HubClient", "HubError", "ensure_hub", "stop_hub", "reset_hub", "create_server", "run_server", "HubConfig",
        "data_root", "default_app_db", "RelayTransport", "relay_folder", "run_relay",
    } <= exported  # fmt: skip
    modules = {name for name, value in vars(hubclient).items() if inspect.ismodule(value)}
    public = {name for name in vars(hubclient) if not name.startswith("_")} - modules
    assert public == exported
    assert all(inspect.getdoc(getattr(hubclient, name)) for name in exported)


def test_import_needs_the_standard_library_alone():
    program = """
import sys
before = set(sys.modules)
import hubclient
new = {m.partition(".")[0] for m in set(sys.modules) - before} - {"hubclient"}
print(sorted(m for m in new if m not in getattr(sys, "stdlib_module_names", new)))
"""
    path = {"PYTHONPATH": str(inspect.getfile(hubclient)).rsplit("/hubclient/", 1)[0]}
    done = subprocess.run([sys.executable, "-c", program], env=path, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_error_is_a_sentence_with_its_fix_and_survives_pickling():
    import pickle

    e = HubError("it is full", 507, {"limit": 3, "size": 4}, "free space", {"ok": False}, "storage_full")
    assert str(e) == "it is full (4, the limit is 3); free space"
    back = pickle.loads(pickle.dumps(e))
    assert (back.error, back.status, back.detail, back.fix, back.envelope, back.code) == (
        "it is full", 507, {"limit": 3, "size": 4}, "free space", {"ok": False}, "storage_full",
    )  # fmt: skip
    assert str(HubError("x", detail={"outcome": "unknown"})) == "x; whether the call took effect is unknown"
    bare = HubError("x")
    assert (bare.status, bare.detail, bare.fix, bare.envelope, bare.code) == (0, {}, "", {}, "")
    refused = hubclient.InvalidInput("x", 400, {"field": "f"}, "y", code="invalid")
    assert isinstance(refused, ValueError)
    assert pickle.loads(pickle.dumps(refused)).detail == {"field": "f"}


def test_the_version_is_the_packages():
    from conftest import ROOT

    project = (ROOT / "python" / "pyproject.toml").read_text(encoding="utf-8")
    assert f'\nversion = "{hubclient.__version__}"\n' in project
