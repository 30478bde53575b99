"""A process that does nothing, in whose namespaces tests can do what they like."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def lives(*words: str) -> Iterator[int]:
    """A process that does nothing, started by these words, in whose mount namespace something can be done."""
    process = subprocess.Popen([*words, "sh", "-c", "echo up; exec sleep 600"], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "up\n"
        yield process.pid
    finally:
        process.kill()
        process.communicate()
