"""The timeline: stacked panels with a common time axis."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from chaosk.core.figures import number
from chaosk.report import panels
from chaosk.report.axis import Axis, Longs
from chaosk.report.lanes import StateLane
from chaosk.report.marks import KINDS
from chaosk.report.panels import ErrorRow
from chaosk.report.svg import Panel, drawing
from chaosk.report.traffic import Traffic
from chaosk.rundir.verdict import Fault

_REPLICAS = "Replicas of partitions{}: thick leads (red, half as thick: in its own eyes only), thin in sync, dotted out"
_SERVERS = "Brokers and ZooKeeper: thick is the controller or leads, thin serves, dotted does not answer"


@dataclass(frozen=True, slots=True)
class TimelineFigure:
    """The data to draw."""

    axis: Axis
    faults: tuple[Fault, ...]
    traffic: tuple[Traffic, ...]
    errors: tuple[ErrorRow, ...]
    partitions: tuple[StateLane, ...]
    others: tuple[StateLane, ...]
    """Brokers and ZooKeeper."""
    wrong: Mapping[str, Mapping[str, Longs]] = field(default_factory=dict)
    """Records with a violation by probe, then kind: number in each bucket of their send time."""
    unshown: int = 0
    """Number of partitions that are not drawn, because others changed more often."""


def draw(timeline: TimelineFigure) -> str:
    """Draw the timeline as an SVG element with style variables for colours; empty if there is no data."""
    return drawing(
        list(_panels(timeline)),
        timeline.axis,
        lambda axes: panels.bands(axes, timeline.faults, timeline.axis),
        "Timeline of the run: described by the tables below",
    )


def _panels(t: TimelineFigure) -> Iterator[Panel]:
    if t.faults:
        yield Panel("Faults", 0.22 * len(t.faults) + 0.06, lambda axes: panels.fault_rows(axes, t.faults, t.axis))
    for flow in t.traffic:
        yield from _traffic_panels(flow, t.axis, t.wrong.get(flow.probe, panels.NOTHING))
    if t.errors:
        height = 0.19 * len(t.errors) + 0.06
        yield Panel("Errors by name, and how many", height, lambda axes: panels.errors(axes, t.errors, t.axis))
    some = f" ({t.unshown} more, to which less happened, are not drawn)" if t.unshown else ""
    for title, lanes in ((_REPLICAS.format(some), t.partitions), (_SERVERS, t.others)):
        for row, lane in enumerate(lanes):
            yield _lane_panel(title if row == 0 else "", lane)


def _traffic_panels(flow: Traffic, axis: Axis, wrong: Mapping[str, Longs]) -> Iterator[Panel]:
    what, until = ("written", "acknowledged") if flow.kind == "produce" else ("read", "delivered")
    gone = "".join(f"; {number(int(counts.sum()))} {KINDS[kind]}" for kind, counts in wrong.items())
    title = f"{flow.probe}: records {what} per second{gone}"
    yield Panel(title, 0.85, lambda axes: panels.rates(axes, flow.rates, axis, wrong), framed=True)
    latency = flow.latency
    if latency is not None:
        title = f"{flow.probe}: time from due to {until}, by when the record was due"
        yield Panel(title, 0.85, lambda axes: panels.latencies(axes, latency, axis), framed=True)


def _lane_panel(title: str, lane: StateLane) -> Panel:
    return Panel(title, 0.115 * len(lane.tracks) + 0.02, lambda axes: panels.lane(axes, lane))
