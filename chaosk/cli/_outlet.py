"""What is said to somebody who has left is lost, and nothing else: no run may end, or stop to heal, for it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import Any, TextIO, cast


class _Outlet:
    """A stream that goes on as if nothing had happened once its reader, its terminal or its disk is gone."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write it, if it can be."""
        try:
            return self._stream.write(text)
        except OSError:
            self._close()
            return len(text)

    def flush(self) -> None:
        """Flush it, if it can be."""
        try:
            self._stream.flush()
        except OSError:
            self._close()

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the stream has
        return getattr(self._stream, name)

    def _close(self) -> None:
        """All that is still to come goes nowhere, and so does what Python would flush at exit, and complain about."""
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self._stream.fileno())
        os.close(nowhere)


@contextmanager
def lasting_output() -> Iterator[None]:
    """While this lasts, no write to stdout or stderr fails."""
    out, err = (cast("TextIO", _Outlet(stream)) for stream in (sys.stdout, sys.stderr))
    with redirect_stdout(out), redirect_stderr(err):
        yield
