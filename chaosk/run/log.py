"""The run's log: one JSON object a line in ``log.jsonl``, through structlog."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import structlog


@contextmanager
def logging_to(path: Path) -> Iterator[None]:
    """Send what chaosk logs to a file, until the block ends."""
    with path.open("a", encoding="utf-8", buffering=1) as file:
        structlog.configure(
            processors=[
                structlog.processors.TimeStamper(fmt="iso", utc=True),
                structlog.processors.add_log_level,
                structlog.processors.dict_tracebacks,
                structlog.processors.JSONRenderer(default=str),
            ],
            wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
            logger_factory=structlog.WriteLoggerFactory(file),
            cache_logger_on_first_use=False,
        )
        try:
            yield
        finally:
            structlog.reset_defaults()
            structlog.configure(logger_factory=structlog.ReturnLoggerFactory(), cache_logger_on_first_use=False)
