"""``run.json``: how a run went, written when it is over; what the events alone cannot tell the analysis."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from chaosk.core.model import Model


class ProbeEnd(Model):
    """How one process of a probe ended."""

    probe: str
    incarnation: int
    ended_by: Literal["stop", "step", "itself", "abort"]
    """Told to end at the end of the run, ended by a timeline entry, died by itself, or ended with a broken-off run."""
    exit_status: int | None
    """Negative: the signal that ended it. None if it never ended."""
    told: int | None = None
    """When it was told to end, monotonic nanoseconds; None for one that was not, but killed or died by itself."""
    gone: int | None = None
    """When one that was told to was gone, monotonic nanoseconds."""
    last_words: str = ""
    """The end of what it wrote to stderr, if it died by itself."""


class EntryEnd(Model):
    """What became of one timeline entry."""

    entry: str
    status: Literal["done", "failed", "skipped"]
    why: str | None = None
    """Why it failed or was skipped, in words."""


class Breach(Model):
    """A stop condition that held, and so ended the run. Times are nanoseconds of the monotonic clock."""

    condition: str
    what: str
    """What was seen."""
    at: int
    """When it was seen: the moment of the sample that showed it."""
    decided: int
    """When the run was told to stop."""
    healed: int | None = None
    """When everything was undone, and that was verified; None if something was not."""


class RunRecord(Model):
    """How the run went. Times are nanoseconds of the monotonic clock, durations seconds."""

    version: int = 1
    run_id: str
    began: int
    """Start of the timeline (or of the run, if it did not get so far)."""
    wall: int
    """The wall clock at ``began``, nanoseconds since 1970."""
    ended: int
    healed: bool
    """Whether everything that was injected was verified to be undone."""
    not_healed: Annotated[tuple[str, ...], Field(strict=False)] = ()
    """What was not undone, in words."""
    interrupted: bool = False
    """Whether a signal ended it."""
    error: str | None = None
    """What broke it off."""
    breach: Breach | None = None
    """The stop condition that ended it."""
    entries: Annotated[tuple[EntryEnd, ...], Field(strict=False)] = ()
    aims: dict[str, str] = Field(default_factory=dict)
    """By entry whom it was done to, in words, where that says more than its targets: who was on which side."""
    probes: Annotated[tuple[ProbeEnd, ...], Field(strict=False)] = ()
    torn: Annotated[tuple[str, ...], Field(strict=False)] = ()
    """Event streams whose end was torn off."""
    streams: dict[str, dict[str, int]] | None = None
    """By writer that was started how many rows of each event table were carried over; None where nobody noted it."""
    durations: dict[str, float] = Field(default_factory=dict)
    """Seconds by phase: lab, preflight, warm_up, baseline, timeline, settle, drain, whole, audit, markers, close."""
