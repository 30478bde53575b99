"""The account that a server runs as, which may be hostile: what it does on a host, it does as that."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

KAFKA, GROUP = 54321, 7
AS_ACCOUNT = ("setpriv", f"--reuid={KAFKA}", f"--regid={GROUP}", "--clear-groups")
"""What is put before a command."""


def as_account(text: str, *words: str) -> subprocess.Popen[bytes]:
    """A shell of the account's that carries out a text; what it says of errors is not shown."""
    argv = [*AS_ACCOUNT, "sh", "-c", text, "account", *words]
    return subprocess.Popen(argv, cwd="/", stderr=subprocess.DEVNULL, start_new_session=True)


@contextmanager
def busy(text: str, *words: str) -> Iterator[None]:
    """The account carries out a text all the time."""
    account = as_account(f"while :; do {text}\ndone", *words)
    try:
        yield
    finally:
        with suppress(ProcessLookupError):
            end = time.monotonic() + 10
            while time.monotonic() < end:  # what its shell has started may be at work a moment longer
                os.killpg(account.pid, signal.SIGKILL)
                account.poll()
                time.sleep(0.01)
        account.wait()


@contextmanager
def reached_by_all() -> Iterator[Path]:
    """A folder that everybody reaches, unlike those of pytest."""
    with tempfile.TemporaryDirectory() as made:
        Path(made).chmod(0o755)
        yield Path(made).resolve()
