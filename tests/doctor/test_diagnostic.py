"""Findings: which of them keep a run from starting, and how they read."""

from __future__ import annotations

import pytest

from chaosk.core.errors import PreflightError
from chaosk.run.preflight.diagnostic import Diagnostic, bad, fit, ok, refuse, unknown, warning

FINE = (ok("a", "tools", "all"), warning("a", "clock", "off", "set it"), unknown("a", "kernel", "no unshare"))


def test_only_bad_findings_keep_a_run_from_starting() -> None:
    """A warning and something unknown do not."""
    assert fit(())
    assert fit(FINE)
    assert not fit((*FINE, bad("a", "root", "no", "do")))
    refuse(FINE)


def test_a_refusal_names_every_bad_finding_and_no_other() -> None:
    """One look at the message is enough: where, what, and what to do, for all of them."""
    with pytest.raises(PreflightError) as refused:
        refuse((bad("a", "root", "none", "allow it"), *FINE, bad("b", "tools", "no awk", "install mawk")))
    assert str(refused.value) == ("the run cannot start:\n  a: root: none; allow it\n  b: tools: no awk; install mawk")


def test_a_finding_without_a_remedy_ends_with_what_was_seen() -> None:
    """No dangling punctuation."""
    assert str(Diagnostic(where="a", what="b", state="ok", seen="c")) == "a: b: c"
