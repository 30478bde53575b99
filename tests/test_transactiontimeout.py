"""How long a transaction may stay open, and whether a run settles for so long."""

from __future__ import annotations

from pathlib import Path

import pytest
from sample_documents import SCENARIO, written

from chaosk.cli.main import main
from chaosk.core.errors import ExitCode
from chaosk.spec.transaction_timeout import longest, short, timeouts

WRITER = {"produce": {"topic": "orders", "transaction": {"records": 10}, "config": {"transaction.timeout.ms": 15_000}}}
PIPE = {"transform": {"topic": "orders", "to": "bills", "group": "billing"}}
PLAIN = {"produce": {"topic": "orders"}}


def test_each_probe_that_transacts_has_its_own() -> None:
    """As its settings say, 60 s where they say nothing; other probes have none."""
    assert timeouts({"writer": WRITER, "pipe": PIPE, "plain": PLAIN}) == {"writer": 15.0, "pipe": 60.0}
    assert (longest({"writer": WRITER}), longest({"plain": PLAIN})) == (15.0, 60.0)


@pytest.mark.parametrize(("settle", "told"), [(44, True), (45, False)])
def test_a_settle_that_is_too_short_is_told(settle: float, *, told: bool) -> None:
    """Its timeout and 30 s for the coordinator; without transactions any settle is long enough."""
    found = short(settle, {"writer": WRITER, "plain": PLAIN})
    assert (found is not None) is told
    assert short(settle, {"plain": PLAIN}) is None


def test_validate_and_plan_tell_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A note, and no mistake; nothing of it where nobody transacts."""
    text = SCENARIO.replace("acks: all", "acks: all, transaction.timeout.ms: 15000", 1)
    plain, transacting = written(tmp_path, SCENARIO, "plain.yaml"), tmp_path / "transacting.yaml"
    marker = "produce: {topic: orders"
    assert marker in text
    transacting.write_text(text.replace(marker, "produce: {transaction: {records: 10}, topic: orders", 1), "utf-8")
    assert main(["validate", str(plain)]) == ExitCode.PASS
    assert "note:" not in capsys.readouterr().err
    assert main(["validate", str(transacting)]) == ExitCode.PASS
    assert "settle: 20s is too short to detect that a transaction of" in capsys.readouterr().err
    assert main(["plan", str(transacting)]) == ExitCode.PASS
    assert "that takes 45s" in capsys.readouterr().out
