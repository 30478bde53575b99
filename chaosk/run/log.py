"""The run's log: one JSON object a line in ``log.jsonl``, through structlog."""

from __future__ import annotations

import io
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import structlog


class FileLogger:
    """Writes lines to a file and ignores failures: a full disk must not stop the healing that is logged."""

    def __init__(self, file: io.RawIOBase) -> None:
        """``file`` is unbuffered: a buffer would be flushed on closing, and fail then."""
        self._file = file

    def msg(self, line: str) -> None:
        """Write one line, unless the disk is full."""
        with suppress(OSError):
            self._file.write(line.encode() + b"\n")

    debug = info = warning = error = critical = msg


@contextmanager
def logging_to(path: Path) -> Iterator[None]:
    """Write chaosk's log to a file until the block ends."""
    with path.open("ab", buffering=0) as file:
        structlog.configure(
            processors=[
                structlog.processors.TimeStamper(fmt="iso", utc=True),
                structlog.processors.add_log_level,
                structlog.processors.dict_tracebacks,
                structlog.processors.JSONRenderer(default=str),
            ],
            wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
            logger_factory=_always(FileLogger(file)),
            cache_logger_on_first_use=False,
        )
        try:
            yield
        finally:
            structlog.reset_defaults()
            structlog.configure(logger_factory=structlog.ReturnLoggerFactory(), cache_logger_on_first_use=False)


def _always(logger: FileLogger) -> Callable[..., FileLogger]:
    return lambda *_names: logger
