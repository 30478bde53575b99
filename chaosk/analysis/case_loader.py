"""Read a run directory's documents and small tables into a case, with pyarrow; Spark reads the big tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pydantic import Field, ValidationError

from chaosk.analysis.case import Case, FinalCommit, Process, Pulse, Setting, TimeSpan, Worker
from chaosk.analysis.event_files import read, reading
from chaosk.analysis.plan_excerpt import Lenient, PlanExcerpt
from chaosk.analysis.recreated.generations import former
from chaosk.analysis.reported_counts import last_tallies
from chaosk.analysis.stillness import pulse
from chaosk.analysis.streams import Present, discrepancies
from chaosk.analysis.unflushed import FORGETTING
from chaosk.core.errors import AnalysisError
from chaosk.rundir.decision import Decision
from chaosk.rundir.events.arrow import SCHEMAS
from chaosk.rundir.paths import RunDir
from chaosk.rundir.paths import document as read_document
from chaosk.rundir.record import RunRecord
from chaosk.rundir.verdict import Fault

SILENCE = 5_000_000_000
"""Nanoseconds without any event after which the machine that runs chaosk counts as stalled."""
_SAMPLES = 16_384
"""Rows of the watcher that are read at a time."""
_LATER = ("decisions", "remakings", "topic_settings", "heartbeats", "stream_ends")
"""Tables that runs of older versions may lack."""
_PULSES = (("partitions", "at"), ("polls", "completed"), ("sends", "completed"), ("brokers", "completed"),
           ("heartbeats", "at"))  # fmt: skip
"""Tables with continuous writes, and their time column: evidence that chaosk was running."""


Tables = dict[str, list[dict[str, Any]]]
"""Rows by table."""


def read_case(rundir: RunDir) -> Case:
    """Read a run directory's documents and small tables; raises AnalysisError if they cannot be read."""
    rows = {name: _rows(rundir, name) for name in SCHEMAS if name not in _LATER or _exists(rundir, name)}
    tables = {name: _table(rundir, name) for name in ("faults", "phases", "incarnations", "ends", "audit_ranges")}
    clocks = sorted((row["monotonic"], row["wall"]) for row in _table(rundir, "clocks"))
    workers = [Worker(**{name: row[name] for name in Worker.__slots__}) for row in tables["incarnations"]]
    record = _record(rundir, [row["began"] for row in tables["phases"]] or [at for at, _ in clocks])
    document = _document(rundir)
    ends = {
        (row["probe"], row["incarnation"]): {name: row[name] for name in ("at", "scheduled", "rows")}
        for row in tables["ends"]
    }
    kinds = {(worker.probe, worker.incarnation): worker.kind for worker in workers}
    counted = _counted(rundir) if kinds.keys() & ends.keys() else {}
    marks = _optional(rundir, "stream_ends")
    return Case(
        rundir=rundir,
        events=rundir.events,
        **_about_run(rundir, tables, record),
        former=former(_optional(rundir, "remakings"), document.scenario.topics),
        plan=document.scenario,
        client={**document.inventory.client, **document.inventory.probe_client},
        hosts={number: broker.host for number, broker in document.inventory.brokers.items()},
        replicas=_replicas(rundir) if any(row["step"] in FORGETTING for row in tables["faults"]) else {},
        **_first_samples(rundir, sum(topic.partitions for topic in document.scenario.topics.values())),
        record=record,
        workers=tuple(sorted(workers, key=lambda w: (w.probe, w.incarnation))),
        ends=ends,
        tallies=last_tallies(_arrow(rundir, "tallies")),
        committed=tuple(_committed(rundir)),
        clocks=tuple(clocks),
        rows=rows,
        held=_held(rundir),
        foreign=_any(rundir, "reads", ["intact"], _not_ours) or _any(rundir, "audit", ["intact"], _not_ours),
        fenced=_fatal(rundir, "_FENCED") if rows["transactions"] else {},
        replaced=_fatal(rundir, "FENCED_INSTANCE_ID"),
        silences=tuple(_silences(rundir, [row[0] for row in clocks], [worker.started for worker in workers])),
        discrepancies=discrepancies(Present(record, document.run_id, rows, marks, kinds, ends, counted)),
        pulses=_pulses(rundir),
        uncertain_with_offset=_any(rundir, "sends", ["outcome", "offset", "error"], _uncertain),
    )


def _about_run(rundir: RunDir, tables: Tables, record: RunRecord) -> dict[str, Any]:
    """Return what the run itself recorded: its faults, decisions, phases, audited ranges and the topics' settings."""
    phases = sorted((row["began"], row["phase"], row["ended"]) for row in tables["phases"])
    return {
        "acted": tuple(
            Fault(**_renamed(row)) for row in sorted(tables["faults"], key=lambda r: (r["invoked"], r["fault"]))
        ),
        "decisions": tuple(Decision(**row) for row in _in_time(_optional(rundir, "decisions"))),
        "phases": tuple(TimeSpan(name, began, ended or record.ended) for began, name, ended in phases),
        "unfinished": tuple(name for _, name, ended in phases if ended is None),
        "ranges": tuple(sorted(tables["audit_ranges"], key=lambda r: (r["isolation"], r["topic"], r["partition"]))),
        "settings": tuple(Setting(**row) for row in _in_time(_optional(rundir, "topic_settings"))),
    }


def _in_time(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda row: int(row["at"]))


def _optional(rundir: RunDir, name: str) -> list[dict[str, Any]]:
    """Return the rows of a table that runs of older versions lack; empty for these."""
    return _table(rundir, name) if _exists(rundir, name) else []


def _exists(rundir: RunDir, name: str) -> bool:
    return (rundir.events / f"{name}.parquet").exists()


def _renamed(row: dict[str, Any]) -> dict[str, Any]:
    return {("name" if key == "fault" else key): value for key, value in row.items()}


class _Broker(Lenient):
    host: str


class _Inventory(Lenient):
    brokers: dict[int, _Broker] = Field(default_factory=dict)
    client: dict[str, Any] = Field(default_factory=dict)
    probe_client: dict[str, Any] = Field(default_factory=dict)


class _Document(Lenient):
    """``plan.json``, as far as judging needs it."""

    run_id: str = ""
    scenario: PlanExcerpt
    inventory: _Inventory = _Inventory()


def _document(rundir: RunDir) -> _Document:
    try:
        return _Document.model_validate_json(read_document(rundir.plan))
    except (OSError, ValidationError) as error:
        raise AnalysisError(f"{rundir.plan}: cannot be read, so nothing says what was to be judged: {error}") from error


def _record(rundir: RunDir, times: list[int]) -> RunRecord:
    """Read the record of the run; for a killed run without one, assume that its undo is not verified."""
    try:
        return RunRecord.model_validate_json(read_document(rundir.run))
    except FileNotFoundError:
        began, ended = min(times, default=0), max(times, default=0)
        return RunRecord(
            run_id="", began=began, wall=0, ended=ended, healed=False, error="it ended before it could write run.json"
        )
    except (OSError, ValidationError) as error:
        raise AnalysisError(f"{rundir.run}: cannot be read: {error}; without it the run cannot be judged") from error


def _table(rundir: RunDir, name: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = _arrow(rundir, name).to_pylist()
    return rows


def _arrow(rundir: RunDir, name: str) -> pa.Table:
    with reading(rundir.events, name) as path:
        return pq.read_table(path, schema=SCHEMAS[name])


def _rows(rundir: RunDir, name: str) -> int:
    with reading(rundir.events, name) as path:
        metadata = pq.read_metadata(path)
        columns = set(metadata.schema.to_arrow_schema().names)
    if lacking := [column for column in SCHEMAS[name].names if column not in columns]:
        raise AnalysisError(
            f"{rundir.events / name}.parquet: the event table has no column {', '.join(lacking)}: another version of "
            "chaosk recorded this run; judge it with that version, which plan.json names under versions"
        )
    return int(metadata.num_rows)


def _counted(rundir: RunDir) -> Counter[Process]:
    """Count by process the rows of the tables that end markers count."""
    found: Counter[Process] = Counter()
    names = ["probe", "incarnation"]
    for table in ("sends", "reads", "health_checks", "calls"):
        with reading(rundir.events, table) as path:
            rows = pq.read_table(path, columns=names, read_dictionary=names[:1])
        of_process = rows.unify_dictionaries().group_by(names)  # each row group has a dictionary of its own
        for row in of_process.aggregate([([], "count_all")]).to_pylist():
            found[row["probe"], row["incarnation"]] += row["count_all"]
    return found


def _committed(rundir: RunDir) -> Iterator[FinalCommit]:
    """Yield the reported offset of each group and partition, with the highest one that processes committed or found."""
    names = ["group", "topic", "partition"]
    asked: dict[tuple[str, str, int], int] = {}
    for table in ("commits", "txn_offsets", "fetched"):
        highest = read(rundir.events, table, [*names, "offset"]).group_by(names).aggregate([("offset", "max")])
        for row in highest.to_pylist():
            if row["offset_max"] is not None:
                owned = (row["group"], row["topic"], row["partition"])
                asked[owned] = max(row["offset_max"], asked.get(owned, 0))
    for row in _table(rundir, "groups"):
        yield FinalCommit(**row, asked=asked.get((row["group"], row["topic"], row["partition"])))


def _pulses(rundir: RunDir) -> dict[str, Pulse]:
    """Return the pulse by writer."""
    found: dict[str, list[int]] = {}
    for row in _optional(rundir, "heartbeats"):
        found.setdefault(row["writer"], []).append(row["at"])
    return {writer: pulse(beats) for writer, beats in sorted(found.items())}


def _held(rundir: RunDir) -> dict[tuple[str, str], frozenset[int]]:
    """Return the partitions that members were assigned, by reader and topic."""
    found: dict[tuple[str, str], set[int]] = {}
    for row in _table(rundir, "assignments"):
        found.setdefault((row["group"] or row["probe"], row["topic"]), set()).add(row["partition"])
    return {key: frozenset(partitions) for key, partitions in sorted(found.items())}


def _replicas(rundir: RunDir) -> dict[tuple[str, int], frozenset[int]]:
    """Return every broker that any broker named as a replica, by topic and partition."""
    found: dict[tuple[str, int], frozenset[int]] = {}
    with reading(rundir.events, "partitions") as path, pq.ParquetFile(path) as file:
        for batch in file.iter_batches(columns=["topic", "partition", "replicas"]):
            for row in batch.to_pylist():
                place = (row["topic"], row["partition"])
                found[place] = found.get(place, frozenset()) | frozenset(row["replicas"])
    return found


def _first_samples(rundir: RunDir, wanted: int) -> dict[str, Any]:
    """Return ``first_replicas`` and ``first_partitions`` of a case.

    Rows are in the order of time, but for those of a second or so, so reading ends with the batch that has so many
    partitions.
    """
    replicas: dict[tuple[str, int], tuple[int, int]] = {}
    answers: dict[str, dict[tuple[int, int], set[int]]] = {}
    with reading(rundir.events, "partitions") as path, pq.ParquetFile(path) as file:
        for batch in file.iter_batches(_SAMPLES, columns=["topic", "partition", "at", "asked", "replicas"]):
            for row in batch.to_pylist():
                place, sample = (row["topic"], row["partition"]), (row["at"], len(row["replicas"]))
                replicas[place] = min(replicas.get(place, sample), sample)
                mine = answers.setdefault(row["topic"], {}).setdefault((row["at"], row["asked"]), set())
                mine.add(row["partition"])
            if len(replicas) >= wanted:
                break
    first = {topic: min(seen) for topic, seen in answers.items()}
    partitions = {topic: (answer[0], len(answers[topic][answer])) for topic, answer in first.items()}
    return {"first_replicas": replicas, "first_partitions": partitions}


def _fatal(rundir: RunDir, error: str) -> dict[Process, int]:
    """Return the processes that recorded a fatal error, with the time."""
    wanted = (pc.field("error") == error) & pc.field("fatal")
    rows = read(rundir.events, "errors", ["probe", "incarnation", "at"], wanted).to_pylist()
    return {(row["probe"], row["incarnation"]): row["at"] for row in rows}


def _silences(rundir: RunDir, sampled: list[int], started: list[int]) -> list[TimeSpan]:
    """Return stretches of ``SILENCE`` or more without a sample of the clocks and without any event.

    They count from the first probe's start or the first event on. Before that, a run examines its hosts and records
    only the clocks, so slow hosts would look like a stalled machine.
    """
    suspected = [(a, b) for a, b in pairwise(sampled) if b - a > SILENCE]
    if not suspected:
        return []
    events = np.concatenate([np.asarray(started, dtype=np.int64), *(_times(rundir, *each) for each in _PULSES)])
    first = events.min(initial=sampled[-1])
    pulses = np.unique(np.concatenate([np.asarray(sampled, dtype=np.int64), events]))
    found = [TimeSpan("silence", a, b) for a, b in pairwise(pulses[pulses >= first].tolist()) if b - a > SILENCE]
    return [span for span in found if any(a <= span.began and span.ended <= b for a, b in suspected)]


def _times(rundir: RunDir, name: str, column: str) -> Any:  # noqa: ANN401 - an array of nanoseconds
    if name in _LATER and not _exists(rundir, name):
        return np.zeros(0, dtype=np.int64)
    return read(rundir.events, name, [column]).column(column).drop_null().to_numpy()


def _any(rundir: RunDir, name: str, columns: list[str], holds: Callable[[pa.RecordBatch], Any]) -> bool:
    """Return True if the condition holds for any row of a table; only some columns are read."""
    with reading(rundir.events, name) as path, pq.ParquetFile(path) as file:
        return any(pc.any(holds(batch)).as_py() for batch in file.iter_batches(columns=columns))


def _not_ours(batch: pa.RecordBatch) -> Any:  # noqa: ANN401 - an array of bool, which pyarrow's stubs type too loosely to say
    return pc.invert(batch.column("intact"))


def _uncertain(batch: pa.RecordBatch) -> Any:  # noqa: ANN401 - an array of bool, which pyarrow's stubs type too loosely to say
    placed = pc.and_(pc.is_valid(batch.column("offset")), pc.is_null(batch.column("error")))
    return pc.and_(pc.equal(batch.column("outcome"), pa.scalar("info")), placed)
