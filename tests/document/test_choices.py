"""Exactly one step in an entry, exactly one kind in a probe."""

from __future__ import annotations

import pytest

from chaosk.document.choices import choices
from chaosk.document.nodes import spell
from chaosk.document.parse import parse
from chaosk.spec.scenario import steps


def found(text: str) -> list[str]:
    """What is wrong with the choices in a document."""
    root, wrong = parse(text.encode())
    assert root is not None
    assert not wrong
    return [f"{spell(path)}: {what}" for _, path, what in choices(root)]


@pytest.mark.parametrize(
    "text",
    [
        "timeline: [{wait: {}}, {at: 1s, name: x, wait: {}}]",
        "probes: {writer: {produce: {}}}",
        "timeline: 5\nprobes: [1]",
        "timeline: [5, [], x]\nprobes: {writer: 5}",
        "timeline: [{wiat: {}}]\nprobes: {writer: {prodce: {}}}",
        "just: text",
    ],
)
def test_what_is_no_matter_of_choice(text: str) -> None:
    """One of each is right; what has another shape, or an unknown name, is somebody else's complaint."""
    assert found(text) == []


def test_none() -> None:
    """An entry with triggers alone, and a probe of no kind."""
    entry, probe = found("timeline: [{at: 1s}]\nprobes: {writer: {}}")
    assert entry.startswith(f"timeline[0]: names no step; write one of {min(steps())}, ")
    assert (
        probe == "probes.writer: names no kind of probe; write one of call, consume, health_check, produce, transform"
    )


def test_two() -> None:
    """The second is the one too many; a third is not another mistake."""
    assert found("timeline: [{wait: {}, kill_broker: {}, stop_broker: {}}]") == [
        "timeline[0].kill_broker: wait and kill_broker and stop_broker in one mapping; write one step in each"
    ]
    assert found("probes: {w: {produce: {}, consume: {}}}") == [
        "probes.w.consume: produce and consume in one mapping; write one kind of probe in each"
    ]
