"""Reading files of the data root that only this user may have written."""

from __future__ import annotations

import os
import stat
from pathlib import Path

_READ_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def read(file: Path, most: int) -> bytes:
    """Reads a file, at most a byte more than ``most``.

    Raises:
        OSError: It cannot be read.
        ValueError: Others may have written it; says why.
    """
    fd = os.open(file, _READ_FLAGS)
    try:
        info = os.fstat(fd)
        if not stat.S_ISREG(info.st_mode):
            raise ValueError("it is not a regular file")
        if hasattr(os, "geteuid") and info.st_uid != os.geteuid():
            raise ValueError(f"it belongs to another user ({info.st_uid})")
        if os.name == "posix" and info.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise ValueError("others may write it")
        with os.fdopen(os.dup(fd), "rb") as content:
            return content.read(most + 1)
    finally:
        os.close(fd)
