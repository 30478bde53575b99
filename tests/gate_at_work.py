"""The gate of the sample cluster, that says what it would run as root instead of running it."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from itertools import cycle
from pathlib import Path

from sample_inventory import INVENTORY

from chaosk.hosts import sudo_gate
from chaosk.spec.inventory import Inventory

RUN = 'sh -c "$(script_text "$script")" chaosk "$@"'
SAY = """printf 'RUNS %s' "$script"; printf ' <%s>' "$@"; echo; [ -t 0 ] || cat"""
SHELLS = [words for words in (["dash"], ["bash"], ["busybox", "sh"]) if shutil.which(words[0])]
"""What may be a host's `sh`."""

Ask = Callable[..., subprocess.CompletedProcess[str]]


def saying(folder: Path, inventory: Inventory = INVENTORY) -> Path:
    """Put it into a folder."""
    path = folder / "gate"
    text = sudo_gate.program(inventory, str(path))
    assert text.count(RUN) == 1
    path.write_text(text.replace(RUN, SAY), "utf-8")
    path.chmod(0o755)
    return path


def asking(place: Path) -> Ask:
    """Asks the gate as sudo would start it; the shells take turns."""
    turns = cycle(SHELLS)

    def run(*words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        command = [*next(turns), str(place), *words]
        return subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=20, check=False)

    return run
