"""`chaosk explore` on a real lab: it finds a real loss, and what it leaves shows it again."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from chaosk.campaign.explore.record import load

pytestmark = [pytest.mark.lab, pytest.mark.timeout(600), pytest.mark.long]

SPACE = """\
name: A leader cut off
hypothesis: A producer that waits for the leader alone loses nothing.
topics:
  orders: {partitions: 1, replication_factor: 3, config: {min.insync.replicas: 1}}
probes:
  writer: {produce: {topic: orders, rate: 100/s, config: {acks: 1, enable.idempotence: false}}}
baseline: 1s
explore:
  faults:
    - cut_network: {between: ["host(leader(orders, 0))", "host(followers(orders, 0))"]}
      for: {min: 18s, max: 20s}
  count: 1
  gap: 1s
  finally:
    - {name: whole, when: isr_full(orders), timeout: 90s, wait: {duration: 1s}}
settle: 1s
expect: {lost_records: 0}
"""


def chaosk(*words: str | Path) -> subprocess.CompletedProcess[str]:
    """A command to its end."""
    return subprocess.run(
        [sys.executable, "-m", "chaosk", *map(str, words)], capture_output=True, text=True, timeout=500, check=False
    )


def test_a_real_loss_is_found_and_shown_again(lab_inventory: Path, tmp_path: Path) -> None:
    """The space holds one way to lose records: the first round shows it, the command that is told shows it once more.

    Both runs healed the cluster, and lost what was acknowledged, each by its own verdict.
    """
    space = tmp_path / "space.yaml"
    space.write_text(SPACE, "utf-8")
    where = ("--inventory", lab_inventory, "--output", tmp_path / "out")
    done = chaosk("explore", space, *where, "--seed", "7", "--rounds", "2", "--no-shrink")
    assert done.returncode == 1, done.stdout + done.stderr
    (folder,) = (tmp_path / "out").iterdir()
    told = load(folder)
    assert told.found is not None
    assert told.found.breaches == ("lost_records",)
    assert told.why_ended is None
    (again,) = (line for line in done.stdout.splitlines() if line.startswith("explore: again: chaosk run "))
    words = shlex.split(again.partition("chaosk ")[2])
    assert words[1] == str(folder / "found.yaml")
    replay = chaosk(*words, "--output", tmp_path / "replay")
    assert replay.returncode == 1, replay.stdout + replay.stderr
    assert "lost records was" in replay.stdout
