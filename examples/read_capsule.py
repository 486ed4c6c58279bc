#!/usr/bin/env python3
"""Reads a project capsule without a hub.

    python3 examples/read_capsule.py FILE.hubpack

Checks every hash and the digest of the content, and prints the project: its rooms
with their decisions and messages, and what the tasks and artifacts are. It needs
nothing but Python; docs/capsule.md describes the format.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import zipfile
from collections.abc import Iterator
from typing import Any

MIMETYPE = b"application/vnd.hub.capsule+zip"
MAX_LINE = 64 << 20  # bytes


class Capsule:
    """A capsule whose hashes are those of its manifest."""

    def __init__(self, path: str) -> None:
        self.zip = zipfile.ZipFile(path)
        names = self.zip.namelist()
        if names[:1] != ["mimetype"] or self.zip.read("mimetype") != MIMETYPE:
            raise ValueError("this is no project capsule")
        self.manifest = json.loads(self.zip.read("manifest.json"))
        if self.manifest["format"] != "hubpack" or self.manifest["schema"]["major"] != 1:
            raise ValueError("a later version has written this capsule")
        entries = self.manifest["entries"]
        if sorted(names) != sorted(["mimetype", "manifest.json", *(e["path"] for e in entries)]):
            raise ValueError("the archive and the manifest list different entries")
        digest = hashlib.sha256()
        for entry in sorted(entries, key=lambda e: e["path"].encode()):
            path, size = entry["path"], entry["bytes"]
            if self.zip.getinfo(path).file_size != size or self.sha256(path) != entry["sha256"]:
                raise ValueError(f"{path} is not what the manifest lists")
            digest.update(f"{entry['sha256']}  {path}\n".encode())
        if "sha256:" + digest.hexdigest() != self.manifest["content_digest"]:
            raise ValueError("the digest of the content is another")

    def sha256(self, path: str) -> str:
        """The hash of an entry, which is read piece by piece."""
        digest = hashlib.sha256()
        with self.zip.open(path) as file:
            while piece := file.read(1 << 20):
                digest.update(piece)
        return digest.hexdigest()

    def lines(self, path: str) -> Iterator[dict[str, Any]]:
        """The objects of an .ndjson entry, one at a time."""
        with self.zip.open(path) as file:
            while line := file.readline(MAX_LINE):
                yield json.loads(line)


def plain(text: str) -> str:
    """A text of the capsule on one line, without what would steer a terminal."""
    return "".join(c if c.isprintable() else " " for c in text)


def show(capsule: Capsule) -> None:
    """Print the project."""
    manifest = capsule.manifest
    project = json.loads(capsule.zip.read("project.json"))
    how = f"{manifest['scope']}, {manifest['privacy']}, {manifest['created_at']}"
    print(f"{plain(project['name'])} ({project['slug']}), {how}")
    print(", ".join(f"{n} {kind}" for kind, n in manifest["counts"].items()))
    for room in capsule.lines("rooms.ndjson"):
        print(f"\n#{room['id']} {plain(room['name'])}: {plain(room['topic']) or 'no topic'}")
        for kind, sign in (("decisions", "decided"), ("artifacts", "keeps"), ("tasks", "has the task")):
            for line in capsule.lines(kind + ".ndjson"):
                if line["room"] == room["id"]:
                    version = f", version {line['version']}" if kind == "artifacts" else ""
                    print(f"  {sign} #{'m' if kind == 'tasks' else ''}{line['id']} {plain(line['title'])}{version}")
        if manifest["scope"] != "knowledge":
            for message in capsule.lines(f"messages/{room['id']}.ndjson"):
                to = f" to {message['to']}" if "to" in message else ""
                print(f"  #m{message['id']} {message['ts']} {message['from']}{to}: {plain(message['body'])}")


def main() -> None:
    """Read the capsule that the command names."""
    parser = argparse.ArgumentParser(description="Reads a project capsule without a hub.")
    parser.add_argument("file", help="the capsule; its name ends with .hubpack")
    try:
        show(Capsule(parser.parse_args().file))
    except (OSError, ValueError, KeyError, TypeError, zipfile.BadZipFile) as err:
        sys.exit(f"read_capsule: the capsule cannot be read: {err}")


if __name__ == "__main__":
    main()
