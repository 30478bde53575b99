"""Reads every document of a folder as chaosk does, and says of each what that took: ``refusing.py FOLDER``.

A process of its own: its memory is the loader's, and whoever connects, starts a process or writes a file is caught by
an audit hook, which no code of this process can get around.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path

from chaosk.core.errors import ChaoskError
from chaosk.document import load_inventory, load_variants

MEMORY = 200 * 1024**2
"""Bytes of address space beyond what the process has once everything is imported."""
SECONDS = 120
"""Of CPU time for all of them; then the kernel kills."""

deeds: list[str] = []
"""What was done that reading a file does not need."""


def hook(event: str, arguments: tuple[object, ...]) -> None:
    """Called by the interpreter itself."""
    if event.startswith(("socket.", "subprocess.", "os.system", "os.exec", "os.fork", "os.posix_spawn", "ctypes.")):
        deeds.append(f"{event} {arguments!r}"[:200])
    if event == "open" and isinstance(arguments[1], str) and set(arguments[1]) & set("wxa+"):
        deeds.append(f"{event} {arguments!r}"[:200])


def peak() -> int:
    """Bytes: the most this process has had in memory since the last call."""
    status = Path("/proc/self/status").read_text("utf-8")
    high = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))
    Path("/proc/self/clear_refs").write_text("5", "utf-8")
    return high * 1024


def look(path: Path) -> dict[str, object]:
    """Load one file."""
    load = load_variants if path.name.startswith("scenario") else load_inventory
    peak()
    deeds.clear()
    began = time.process_time()
    told = problems = None
    try:
        load(path)
    except ChaoskError as error:
        told, problems = str(error), [each.line for each in getattr(error, "problems", ())]
    except BaseException as error:  # noqa: BLE001 - whatever else comes is the finding
        told, problems = f"NOT OURS: {type(error).__name__}: {error}"[:300], None
    seconds, did = time.process_time() - began, list(deeds)
    return {"file": path.name, "told": told, "lines": problems, "seconds": seconds, "peak": peak(), "did": did}


def main(folder: Path) -> None:
    """All of them, one JSON object a line."""
    for path in sorted(folder.glob("right-*.yaml")):  # loads every plugin, as the first file would have to
        (load_variants if "scenario" in path.name else load_inventory)(path)
    used = int(Path("/proc/self/statm").read_text("utf-8").split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    sys.addaudithook(hook)
    for path in sorted({*folder.glob("*.yaml")} - {*folder.glob("right-*.yaml")}):
        print(json.dumps(look(path)))  # noqa: T201 - what it is for


if __name__ == "__main__":
    main(Path(sys.argv[1]))
