"""The benchmark of Spark's start: each process has the cache it is measured with, and one that fails is no figure."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.long

BENCH = Path(__file__).parents[2] / "bench"


@pytest.fixture(scope="module")
def bench() -> dict[str, Any]:
    """What the benchmark's file defines."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(BENCH), *sys.path])
        return runpy.run_path(str(BENCH / "spark_start.py"))


def test_a_process_has_its_cache(bench: dict[str, Any], tmp_path: Path) -> None:
    """With and without differ by the user's cache alone; how long it took is more than nothing."""
    code = f"import os; assert os.environ['XDG_CACHE_HOME'] == {str(tmp_path)!r}"
    assert bench["seconds"](["-c", code], tmp_path) > 0


def test_a_process_that_fails_is_no_figure(bench: dict[str, Any], tmp_path: Path) -> None:
    """What ends for another reason than a verdict is told with its words."""
    with pytest.raises(SystemExit, match=r"ended with 2: no Java"):
        bench["seconds"](["-c", "import sys; sys.stderr.write('no Java'); sys.exit(2)"], tmp_path)


@pytest.mark.spark
def test_what_it_starts_ends_well(bench: dict[str, Any], tmp_path: Path) -> None:
    """The process that is measured starts a session, asks it something, and ends; else there would be no figure."""
    with pytest.raises(SystemExit, match=r"ended with 2"):
        bench["seconds"](["-c", f"{bench['START']}; raise SystemExit(2)"], tmp_path)
