"""The cluster before, during and after the run: a row for each partition, with changes marked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_LOG = "log of"
MOST_ROWS = 60
"""Largest number of partitions listed, changed ones first."""


@dataclass(frozen=True, slots=True)
class Replica:
    """One assigned broker of a partition."""

    broker: int
    role: str
    """``leads``, ``in sync`` or ``out``."""


@dataclass(frozen=True, slots=True)
class StateCell:
    """A partition, or another fact, in one state of the cluster."""

    replicas: tuple[Replica, ...]
    text: str
    changed: bool
    """True if it differs from the state before."""


@dataclass(frozen=True, slots=True)
class StateRow:
    """One partition or fact, with a cell for each state."""

    name: str
    cells: tuple[StateCell, ...]

    @property
    def changed(self) -> bool:
        """True if any state differs from the one before the run."""
        return any(cell.changed for cell in self.cells)


@dataclass(frozen=True, slots=True)
class States:
    """The table: ``columns`` names its states; ``rest`` is the number of omitted unchanged partitions."""

    columns: tuple[str, ...]
    rows: tuple[StateRow, ...]
    rest: int

    @property
    def still_different(self) -> tuple[str, ...]:
        """Rows that differ from before after the run; empty if there are none, or if a state is missing."""
        if self.columns[:1] != ("before",) or self.columns[-1:] != ("after",):
            return ()
        return tuple(row.name for row in self.rows if row.cells[-1].changed)


def state_table(states: Mapping[str, Mapping[str, Any]]) -> States:
    """Return all recorded states side by side, in order."""
    columns = tuple(states)
    views = [states[name] for name in columns]
    partitions = _partition_rows([_partitions(view) for view in views])
    shown = _most_telling(partitions)
    facts = [
        *_otherwise_rows(views),
        _fact_row("controller", [_controller(view) for view in views]),
        _fact_row("brokers in the cluster", [_listed(view.get("brokers")) for view in views]),
        _fact_row("brokers that answer", [_listed(view.get("answering")) for view in views]),
        *_role_rows("ZooKeeper", "does not serve", [view.get("zookeepers") for view in views]),
        *_role_rows("controller", "takes no part", [view.get("controllers") for view in views]),
        *_looked_at_rows(views),
    ]
    rows = (*shown, *(row for row in facts if any(cell.text for cell in row.cells)))
    return States(columns, rows, len(partitions) - len(shown))


def _most_telling(rows: Sequence[StateRow]) -> tuple[StateRow, ...]:
    changed = [row for row in rows if row.changed]
    kept = {row.name for row in [*changed, *(row for row in rows if not row.changed)][:MOST_ROWS]}
    return tuple(row for row in rows if row.name in kept)


def _otherwise_rows(views: Sequence[Mapping[str, Any]]) -> list[StateRow]:
    """Return differing views of a partition's leader, like ``broker 0 reports: leader 0 (epoch 3)``, by partition."""
    told: list[dict[str, str]] = []
    for view in views:
        said = [one for one in _items(view.get("said")) if isinstance(one, Mapping)]
        texts: dict[str, list[str]] = {}
        for one in said:
            texts.setdefault(f"{one.get('topic')} {one.get('partition')}, other views", []).append(_said(one))
        told.append({name: "; ".join(each) for name, each in texts.items()})
    names = sorted({name for texts in told for name in texts})[:MOST_ROWS]
    return [_fact_row(name, [texts.get(name, "") for texts in told]) for name in names]


def _said(one: Mapping[str, Any]) -> str:
    leader = "no leader" if one.get("leader") in (None, -1) else f"leader {one.get('leader')}"
    isr = " ".join(str(broker) for broker in _items(one.get("isr")))
    return f"broker {one.get('broker')} reports: {leader} (epoch {one.get('leader_epoch')}), ISR {isr or 'empty'}"


def _partitions(view: Mapping[str, Any]) -> dict[tuple[str, int], tuple[Replica, ...]]:
    found = {}
    for state in view.get("partitions") or ():
        isr, leader = state.get("isr") or (), state.get("leader")
        replicas = dict.fromkeys((*(state.get("replicas") or ()), *isr))
        roles = tuple(Replica(b, "leads" if b == leader else "in sync" if b in isr else "out") for b in replicas)
        found[str(state.get("topic")), int(state.get("partition", -1))] = roles
    return found


def _partition_rows(views: Sequence[dict[tuple[str, int], tuple[Replica, ...]]]) -> list[StateRow]:
    places = sorted({place for view in views for place in view})
    rows = []
    for place in places:
        seen = [view.get(place, ()) for view in views]
        cells = tuple(StateCell(replicas, replica_text(replicas), replicas != seen[0]) for replicas in seen)
        rows.append(StateRow(f"{place[0]} {place[1]}", cells))
    return rows


def replica_text(replicas: Sequence[Replica]) -> str:
    """Describe replicas, like ``leader 2, ISR 2 3, out 1``."""
    leader = next((str(replica.broker) for replica in replicas if replica.role == "leads"), "none")
    isr = " ".join(str(replica.broker) for replica in replicas if replica.role != "out")
    out = " ".join(str(replica.broker) for replica in replicas if replica.role == "out")
    return f"leader {leader}, ISR {isr or 'empty'}" + (f", out {out}" if out else "") if replicas else "unknown"


def _fact_row(name: str, texts: Sequence[str]) -> StateRow:
    return StateRow(name, tuple(StateCell((), text, text != texts[0]) for text in texts))


def _looked_at_rows(views: Sequence[Mapping[str, Any]]) -> list[StateRow]:
    """Return the facts that only states recorded by timeline entries contain; empty cells for other states."""
    told = [{**_logs(view), **_coordinators(view), **_settings(view)} for view in views]
    names = tuple(dict.fromkeys(name for texts in told for name in texts))[:MOST_ROWS]
    return [_looked_at(name, [texts.get(name, "") for texts in told]) for name in names]


def _looked_at(name: str, texts: Sequence[str]) -> StateRow:
    """Compare with the first state that has the fact; growth of a log is not a change."""
    first = next(text for text in texts if text)
    moves = name.startswith(_LOG)
    return StateRow(name, tuple(StateCell((), text, bool(text) and text != first and not moves) for text in texts))


def _logs(view: Mapping[str, Any]) -> dict[str, str]:
    logs = [log for log in _items(view.get("logs")) if isinstance(log, Mapping)]
    names = (f"{_LOG} {log.get('topic')} {log.get('partition')}" for log in logs)
    return {name: f"from {log.get('begins')} to {log.get('ends')}" for name, log in zip(names, logs, strict=True)}


def _coordinators(view: Mapping[str, Any]) -> dict[str, str]:
    told = {noun: view.get(f"{noun}s".replace(" ", "_")) for noun in ("coordinator", "transaction coordinator")}
    return {
        f"{noun} of {name}": "none" if one is None else f"broker {one}"
        for noun, named in told.items()
        for name, one in (named.items() if isinstance(named, Mapping) else ())
    }


def _settings(view: Mapping[str, Any]) -> dict[str, str]:
    made = view.get("settings")
    found = made.items() if isinstance(made, Mapping) else ()
    return {f"set on {topic}": _spelled(one) for topic, one in found if isinstance(one, Mapping)}


def _spelled(settings: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in settings.items()) or "nothing"


def _items(value: object) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else ()


def _role_rows(noun: str, none: str, views: Sequence[object]) -> list[StateRow]:
    roles = [view if isinstance(view, Mapping) else {} for view in views]
    nodes = sorted({str(node) for view in roles for node in view}, key=lambda node: (len(node), node))
    return [_fact_row(f"{noun} {node}", [str(view.get(node) or none) for view in roles]) for node in nodes]


def _controller(view: Mapping[str, Any]) -> str:
    value = view.get("controller")
    if value in (None, -1):
        return "none"
    return f"controller {value}" if view.get("controllers") else f"broker {value}"


def _listed(value: object) -> str:
    return ", ".join(str(item) for item in value) if isinstance(value, list | tuple) else ""
