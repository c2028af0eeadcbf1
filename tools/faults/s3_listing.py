"""Delays S3 listings: objects just written are missing, objects just deleted still appear.

S3 has had consistent listings since December 2020; compatible stores may not have them.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import unquote
from xml.etree import ElementTree

_NAMESPACE: Final = "http://s3.amazonaws.com/doc/2006-03-01/"


@dataclass(frozen=True, slots=True)
class ObjectFacts:
    """The entry of an object in a listing."""

    size: str
    etag: str
    modified: str


@dataclass
class LateListing:
    """Records writes and deletions, and rewrites listings to their state ``seconds`` ago.

    An overwritten object stays listed. Keys are ``bucket/key``.
    """

    seconds: float = 0.0
    hidden: int = 0
    """Number of entries hidden so far."""
    ghosts: int = 0
    """Number of deleted objects listed so far."""
    _written: dict[str, float] = field(default_factory=dict)
    _deleted: dict[str, tuple[float, ObjectFacts]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def wrote(self, key: str, *, before: ObjectFacts | None) -> None:
        with self._lock:
            self._deleted.pop(key, None)
            if before is None:
                self._written[key] = time.monotonic()

    def deleted(self, key: str, before: ObjectFacts | None) -> None:
        with self._lock:
            self._written.pop(key, None)
            if before is not None:
                self._deleted[key] = (time.monotonic(), before)

    def rewritten(self, bucket: str, body: bytes) -> bytes:
        """The delayed version of a ListObjectsV2 reply. Deleted objects appear only on the last page of a listing."""
        ElementTree.register_namespace("", _NAMESPACE)
        root = ElementTree.fromstring(body)
        space = root.tag.partition("}")[0].strip("{") if root.tag.startswith("{") else ""
        names = f"{{{space}}}" if space else ""
        now = time.monotonic()
        with self._lock:
            young = {key for key, at in self._written.items() if now - at < self.seconds}
            ghosts = {key: facts for key, (at, facts) in self._deleted.items() if now - at < self.seconds}
        for entry in root.findall(f"{names}Contents"):
            if f"{bucket}/{unquote(entry.findtext(f'{names}Key', ''))}" in young:
                root.remove(entry)
                self.hidden += 1
        if root.findtext(f"{names}IsTruncated") != "true":
            self._add_ghosts(root, names, bucket, ghosts)
        count = root.find(f"{names}KeyCount")
        if count is not None:
            count.text = str(len(root.findall(f"{names}Contents")) + len(root.findall(f"{names}CommonPrefixes")))
        return b'<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root)

    def _add_ghosts(self, root: ElementTree.Element, names: str, bucket: str, ghosts: dict[str, ObjectFacts]) -> None:
        prefix = unquote(root.findtext(f"{names}Prefix") or "")
        delimiter = unquote(root.findtext(f"{names}Delimiter") or "")
        listed = {entry.findtext(f"{names}Key", "") for entry in root.findall(f"{names}Contents")}
        folders = {entry.findtext(f"{names}Prefix", "") for entry in root.findall(f"{names}CommonPrefixes")}
        for name, facts in sorted(ghosts.items()):
            key = name.removeprefix(f"{bucket}/")
            if not name.startswith(f"{bucket}/") or not key.startswith(prefix) or key in listed:
                continue
            rest = key[len(prefix) :]
            if delimiter and delimiter in rest:
                folder = prefix + rest.partition(delimiter)[0] + delimiter
                if folder not in folders:
                    folders.add(folder)
                    ElementTree.SubElement(
                        ElementTree.SubElement(root, f"{names}CommonPrefixes"), f"{names}Prefix"
                    ).text = folder
                continue
            entry = ElementTree.SubElement(root, f"{names}Contents")
            values = {"Key": key, "LastModified": facts.modified, "ETag": facts.etag, "Size": facts.size}
            for tag, value in (values | {"StorageClass": "STANDARD"}).items():
                ElementTree.SubElement(entry, f"{names}{tag}").text = value
            self.ghosts += 1
