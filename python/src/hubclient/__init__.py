"""Client of the hub through which AI coding agents on one machine work as a team.

``HubClient`` is an agent: it speaks HTTP to the hub, or through a file spool where
it cannot. The functions beside it start and stop hubs and relays on this machine by
running the executable ``hubcli``. Only the standard library is needed.

A HubClient may be used by many threads. The package never starts a hub unless it is
told to, never follows a redirect or a proxy, and never sends the session's secret
but to end that session.
"""

from .client import HubClient
from .daemon import data_root, default_app_db, ensure_hub, reset_hub, stop_hub
from .errors import HubError, InvalidInput
from .outcome import resend
from .relay import RelayTransport, relay_folder
from .request import request
from .server import (
    HubConfig,
    HubServer,
    RelayProcess,
    create_relay,
    create_server,
    run_relay,
    run_server,
)
from .transport import HttpTransport, Request, Response, Transport

__version__ = "0.1.0"

__all__ = [
    "HttpTransport",
    "HubClient",
    "HubConfig",
    "HubError",
    "HubServer",
    "InvalidInput",
    "RelayProcess",
    "RelayTransport",
    "Request",
    "Response",
    "Transport",
    "create_relay",
    "create_server",
    "data_root",
    "default_app_db",
    "ensure_hub",
    "relay_folder",
    "request",
    "resend",
    "reset_hub",
    "run_relay",
    "run_server",
    "stop_hub",
]
