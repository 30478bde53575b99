"""Who sent in which transaction, as arrays of numbers: for the glances of the rules about transactions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from chaosk.analysis.glances.rows import EMPTY, Numbers, Rows

_NEVER = np.iinfo(np.int64).max
_EPOCHS = 20  # bits of an epoch beside its process


class Clients(NamedTuple):
    """Clients of a ``transactional.id`` that ended a transaction, by ``keys`` (sorted)."""

    keys: Numbers
    ids: Numbers
    """The ``transactional.id`` of each."""
    rank: Numbers
    """Which client of its id it was, from 1."""
    succeeded: Numbers
    """When the next client of the same id had initialized it; the end of time if none did."""
    several: Numbers
    """The ids that more than one client had."""
    sending: Numbers
    """By row of ``sends`` the key of its client, ``EMPTY`` outside of transactions."""
    ending: Numbers
    """By row of ``transactions`` the key of its client."""


def clients(rows: Rows) -> Clients:
    """All clients of a run; no rows where there was no transaction."""
    if not rows.count("transactions"):
        none = np.empty(0, np.int64)
        return Clients(none, none, none, none, none, np.full(rows.count("sends"), EMPTY), none)
    known = _keys(rows, "transactions")
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
    """Where each wanted number is among the known ones, which are sorted; ``EMPTY`` where it is not."""
    if known.size == 0:
        return np.full(wanted.size, EMPTY)
    places = np.minimum(np.searchsorted(known, wanted), known.size - 1)
    return np.where(known[places] == wanted, places, EMPTY)


def _keys(rows: Rows, table: str) -> Numbers:
    epochs = rows.column(table, "producer_epoch")
    return np.where(epochs == EMPTY, EMPTY, (rows.processes(table) << _EPOCHS) | epochs)


def shown_committed(rows: Rows) -> Numbers:
    """The values that anyone was given at read_committed, the tail audit included."""
    level = rows.code("isolation", "read_committed")
    members = rows.processes("incarnations")[rows.column("incarnations", "isolation") == level]
    read = rows.values("reads")[np.isin(rows.processes("reads"), members)]
    return np.concatenate([read, rows.values("audit")[rows.column("audit", "isolation") == level]])
