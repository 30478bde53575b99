"""Configuration files of servers, given by name: ``server.properties``, ``zoo.cfg``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from chaosk.core.errors import UsageError
from chaosk.discovery.findings import Findings, Remark, Unlearned
from chaosk.discovery.java_properties import load
from chaosk.discovery.server_settings import (
    Sourced,
    identity,
    is_zookeeper,
    kafka_findings,
    protocols,
    zookeeper_findings,
)


def properties_findings(paths: Iterable[Path], *, secured: bool) -> Iterator[Findings]:
    """Yield the findings of each file; ``secured``: True if the settings of clients are known from elsewhere.

    Raises UsageError for a file that is no server's, and for two files of the same server.
    """
    seen: dict[tuple[str, ...], Path] = {}
    for path in paths:
        given = load(path)
        settings = {name: one.text for name, one in given.items()}

        sourced = _lines(path, {name: one.line for name, one in given.items()})
        if is_zookeeper(settings):
            yield zookeeper_findings(settings, _myid(settings), sourced)
            continue
        its = identity(settings)
        if its is None:
            raise UsageError(
                f"{path}: has neither node.id nor broker.id, and no dataDir: it is no server's configuration; "
                "name a server.properties or zoo.cfg, a client's file with --command-config"
            )
        if its.place in seen:
            raise UsageError(f"{path}: is of node {its.number}, as {seen[its.place]} is; name each server once")
        seen[its.place] = path
        yield kafka_findings(settings, its, sourced)
        yield Findings(
            remarks=(Remark(its.place, f"its configuration was given as {path}; its path on the host is not known"),)
        )
        if not secured and its.role == "brokers":
            yield from _security(protocols(settings, its))


def _lines(path: Path, lines: dict[str, int]) -> Sourced:
    return lambda name: f"{name}, {path}:{lines[name]}" if name in lines else f"{name}, {path}"


def _security(spoken: dict[str, str]) -> Iterator[Findings]:
    for name, protocol in spoken.items():
        if protocol != "PLAINTEXT":
            asks = (
                f"listener {name} speaks {protocol}: name a client's settings with --command-config client.properties"
            )
            yield Findings(questions=(Unlearned(("client",), asks),))
            return


def _myid(settings: dict[str, str]) -> int | None:
    """Return the id in the node's data directory, if that is on this machine."""
    try:
        text = (Path(settings["dataDir"]) / "myid").read_text("utf-8").strip()
    except (OSError, KeyError, UnicodeDecodeError):
        return None
    return int(text) if text.isdigit() else None
