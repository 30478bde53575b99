"""The yardstick measures whole processes, and both sides find what is planted."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

BENCH = Path(__file__).parents[2] / "bench"


def bench(code: str) -> subprocess.CompletedProcess[str]:
    """Run a line of Python among the benchmarks."""
    return subprocess.run(
        [sys.executable, "-c", code], cwd=BENCH, capture_output=True, text=True, check=False, timeout=500
    )


@pytest.mark.long
@pytest.mark.spark
@pytest.mark.timeout(600)
def test_both_sides_judge_the_same_run() -> None:
    """Seconds and megabytes of each, from one run of ten thousand events; they agree on what was planted."""
    done = bench("import json, yardstick; print(json.dumps(yardstick.measured(0.01, 1)))")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["analyze_s"] > found["duckdb_s"] > 0
    assert found["ratio"] == pytest.approx(found["analyze_s"] / found["duckdb_s"], rel=0.2)
    assert found["five_ratio"] == pytest.approx(found["five_s"] / found["duckdb_s"], rel=0.2)
    assert 0 < found["warm_s"] < found["five_s"], "nothing is started the second time"
    assert found["analyze_MB"] > found["duckdb_MB"] > 10


def test_a_disagreement_is_no_figure(tmp_path: Path) -> None:
    """What a process ended with is looked at, and what it printed."""
    done = bench(f"import sys, yardstick; yardstick.took([sys.executable, '-c', 'exit(5)', {str(tmp_path)!r}], (0,))")
    assert done.returncode == 1
    assert "ended with 5" in done.stderr


def test_memory_is_that_of_all_children() -> None:
    """Two processes of fifty megabytes each count together."""
    child = "import time; kept = bytearray(50_000_000); time.sleep(1.5)"
    parent = f"import subprocess, sys; kept = bytearray(50_000_000); subprocess.run([sys.executable, '-c', {child!r}])"
    done = bench(f"import sys, yardstick; print(yardstick.took([sys.executable, '-c', {parent!r}], (0,)).megabytes)")
    assert float(done.stdout) > 100
