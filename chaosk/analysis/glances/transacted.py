"""Clients and their transactions as arrays of numbers, for the glances of the rules about transactions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from chaosk.analysis.glances.rows import EMPTY, EventRows, Numbers

_NEVER = np.iinfo(np.int64).max
_EPOCHS = 20  # bits of an epoch beside its process
_UNKNOWN = (1 << _EPOCHS) - 1


class Clients(NamedTuple):
    """Clients of a ``transactional.id`` that ended a transaction, by ``keys`` (sorted)."""

    keys: Numbers
    ids: Numbers
    """The ``transactional.id`` of each."""
    rank: Numbers
    """Position among the clients of its id, from 1."""
    succeeded: Numbers
    """Time at which the next client of the same id had initialized it; the largest number if there is none."""
    several: Numbers
    """The ids with more than one client."""
    sending: Numbers
    """Key of the client by row of ``sends``; ``EMPTY`` outside of transactions."""
    ending: Numbers
    """Key of the client by row of ``transactions``."""


def clients(rows: EventRows) -> Clients:
    """Return all clients of a run; empty without transactions."""
    if not rows.count("transactions"):
        none = np.empty(0, np.int64)
        return Clients(none, none, none, none, none, np.full(rows.count("sends"), EMPTY), none)
    known = _keys(rows, "transactions", unknown=_UNKNOWN)
    keys, first = np.unique(known, return_index=True)
    initialized = np.full(keys.size, _NEVER)
    np.minimum.at(initialized, np.searchsorted(keys, known), rows.column("transactions", "initialized"))
    ids = rows.column("transactions", "transactional_id")[first]
    order = np.lexsort((keys, initialized, ids))
    same = ids[order][1:] == ids[order][:-1]
    succeeded, rank = np.full(keys.size, _NEVER), np.ones(keys.size, np.int64)
    succeeded[order[:-1]] = np.where(same, initialized[order[1:]], _NEVER)
    begins = np.maximum.accumulate(np.where(np.concatenate([[False], same]), 0, np.arange(keys.size)))
    rank[order] = np.arange(keys.size) - begins + 1
    names, counts = np.unique(ids, return_counts=True)
    return Clients(keys, ids, rank, succeeded, names[counts > 1], _keys(rows, "sends"), known)


def index_of(known: Numbers, wanted: Numbers) -> Numbers:
    """Return the index of each wanted number among the known ones, which are sorted; ``EMPTY`` if it is missing."""
    if known.size == 0:
        return np.full(wanted.size, EMPTY)
    places = np.minimum(np.searchsorted(known, wanted), known.size - 1)
    return np.where(known[places] == wanted, places, EMPTY)


def _keys(rows: EventRows, table: str, *, unknown: int = EMPTY) -> Numbers:
    epochs = rows.column(table, "producer_epoch")
    epochs = np.where(epochs == EMPTY, unknown, epochs)
    return np.where(epochs == EMPTY, EMPTY, (rows.processes(table) << _EPOCHS) | epochs)


def shown_committed(rows: EventRows) -> Numbers:
    """Return the values that any reader at read_committed, or the tail audit at that level, was given."""
    level = rows.code("isolation", "read_committed")
    members = rows.processes("incarnations")[rows.column("incarnations", "isolation") == level]
    read = rows.values("reads")[np.isin(rows.processes("reads"), members)]
    return np.concatenate([read, rows.values("audit")[rows.column("audit", "isolation") == level]])
