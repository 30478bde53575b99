"""Mistakes in a probe's ``must_fail``: entries that do not exist, and fencing without another producer."""

from __future__ import annotations

from collections.abc import Iterator

from chaosk.core.suggest import instead
from chaosk.document.draft import Draft
from chaosk.document.nodes import Path
from chaosk.document.parse import Found
from chaosk.spec.contracts.probe import Probe
from chaosk.spec.must_fail import MustFail


def must_fail(draft: Draft, path: Path, name: str, probe: Probe) -> Iterator[Found]:
    """Yield each reason why ``must_fail`` of the probe at ``path`` can have no effect."""
    how, where = probe.must_fail, (*path, "must_fail")
    if how is None:
        return
    named = {"until": how.until, "after": how.after.entry if how.after is not None else None}
    for key, entry in named.items():
        if entry is not None and not draft.named(entry):
            place = draft.holds((*where, key), entry)
            yield draft.at(place, f"there is no entry {entry!r}; {instead(entry, draft.names)}")
    if how.fenced and not _rivals(draft, name, probe):
        yield draft.at(where, f"{_alone(name, probe)}, so no client can fence it; write must_fail: {{after: ENTRY}}")
    if how.until is not None and how.after is not None and _order(draft, how) is False:
        what = f"{how.until} does not begin after {how.after.entry}; name a later entry"
        yield draft.at((*where, "until"), what)


def _rivals(draft: Draft, name: str, probe: Probe) -> bool:
    own = set(probe.transactional_ids(name))
    others = [(other, each) for other, each in draft.probes.items() if other != name]
    return any(each is None or own & set(each.transactional_ids(other)) for other, each in others)


def _alone(name: str, probe: Probe) -> str:
    ids = probe.transactional_ids(name)
    return f"no other probe has the transactional.id {ids[0]}" if ids else f"{name} has no transactional.id"


def _order(draft: Draft, how: MustFail) -> bool | None:
    """Return True if ``until`` is listed after ``after``; None if one of them is unknown."""
    entries = (how.after.entry if how.after else "", how.until or "")
    if not all(each in draft.names for each in entries):
        return None
    after, until = (draft.names.index(each) for each in entries)
    return until > after
