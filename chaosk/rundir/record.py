"""``run.json``: the outcome of a run, written when it is over, with the facts that the events do not contain."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from chaosk.core.model import Model


class ProbeEnd(Model):
    """The end of one process of a probe."""

    probe: str
    incarnation: int
    ended_by: Literal["stop", "step", "itself", "abort"]
    """``stop``: at the end of the run; ``step``: by an entry; ``itself``: it died; ``abort``: the run broke off."""
    exit_status: int | None
    """Negative: the signal that ended it. None if it never ended."""
    told: int | None = None
    """When it was asked to end, monotonic nanoseconds; None if it was killed or died on its own."""
    gone: int | None = None
    """When a process that was asked to end was gone, monotonic nanoseconds."""
    last_words: str = ""
    """The end of its stderr, if it died on its own."""


class EntryEnd(Model):
    """The outcome of one timeline entry."""

    entry: str
    status: Literal["done", "failed", "skipped"]
    why: str | None = None
    """Reason for a failure or a skip."""


class Breach(Model):
    """A stop condition that held and ended the run. Times are nanoseconds of the monotonic clock."""

    condition: str
    what: str
    """The observed breach, in words."""
    at: int
    """Time of the sample that showed it."""
    decided: int
    """When the run was told to stop."""
    healed: int | None = None
    """When every undo was verified; None if any was not."""


class RunRecord(Model):
    """The outcome of a run. Times are nanoseconds of the monotonic clock, durations seconds."""

    version: int = 1
    run_id: str
    began: int
    """Start of the timeline (or of the run, if it did not get so far)."""
    wall: int
    """The wall clock at ``began``, nanoseconds since 1970."""
    ended: int
    healed: bool
    """True if the undo of everything injected was verified."""
    not_healed: Annotated[tuple[str, ...], Field(strict=False)] = ()
    """The faults that were not undone, in words."""
    interrupted: bool = False
    """True if a signal ended it."""
    error: str | None = None
    """The error that aborted it."""
    breach: Breach | None = None
    """The stop condition that ended it."""
    entries: Annotated[tuple[EntryEnd, ...], Field(strict=False)] = ()
    aims: dict[str, str] = Field(default_factory=dict)
    """By entry, its resolved targets in words, if these are more than its targets: the sides of a cut."""
    probes: Annotated[tuple[ProbeEnd, ...], Field(strict=False)] = ()
    torn: Annotated[tuple[str, ...], Field(strict=False)] = ()
    """Event streams with a torn end."""
    streams: dict[str, dict[str, int]] | None = None
    """Number of converted rows by writer and event table, for every started writer; None if it was not recorded."""
    durations: dict[str, float] = Field(default_factory=dict)
    """Seconds by phase: lab, preflight, warm_up, baseline, timeline, settle, drain, whole, audit, markers, close."""
