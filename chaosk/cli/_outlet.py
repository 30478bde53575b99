"""Output that survives a closed terminal or pipe: it is dropped then, so that the run goes on and heals."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import Any, TextIO, cast


class _Outlet:
    """A stream that ignores errors once its reader, its terminal or its disk is gone."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write the text, if possible."""
        try:
            return self._stream.write(text)
        except OSError:
            self._close()
            return len(text)

    def flush(self) -> None:
        """Flush, if possible."""
        try:
            self._stream.flush()
        except OSError:
            self._close()

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - any attribute of the stream
        return getattr(self._stream, name)

    def _close(self) -> None:
        """Redirect further output to /dev/null, including the flush at exit, which would fail otherwise."""
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self._stream.fileno())
        os.close(nowhere)


@contextmanager
def lasting_output() -> Iterator[None]:
    """Within this context, no write to stdout or stderr fails."""
    out, err = (cast("TextIO", _Outlet(stream)) for stream in (sys.stdout, sys.stderr))
    with redirect_stdout(out), redirect_stderr(err):
        yield
