"""The probes' benchmark runs: every variant gives figures, on few records."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

BENCH = Path(__file__).parents[2] / "bench" / "probe_throughput.py"
VARIANTS = [
    "produce, no callback",
    "produce, empty callback",
    "probe produce",
    "consume(500), nothing done",
    "probe consume",
]


def measure(variant: str, records: int) -> dict[str, float]:
    """One variant as the benchmark measures it, in processes of their own."""
    code = f"import json, probe_throughput as b; print(json.dumps(b.measure({variant!r}, {records})))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=BENCH.parent, capture_output=True, text=True, check=True, timeout=120
    )
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.parametrize("variant", VARIANTS)
def test_each_variant_gives_figures(variant: str) -> None:
    """A rate and a cost that can be true."""
    found = measure(variant, 20_000)
    assert found["rate"] > 1000
    assert 0 < found["cpu"] < 1000


def test_the_schedule_is_measured_too() -> None:
    """Lateness, share of a core and missed slots, of which there may be none."""
    found = measure("schedule", 5_000)
    assert 0 <= found["p50"] <= found["p99"] <= found["max"]
    assert found["missed"] == 0
