"""The operator's terminal: unbuffered keys, frames of which only changed rows are sent, and restoring it at the end."""

from __future__ import annotations

import os
import select
import sys
import termios
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from chaosk.core.errors import UsageError
from chaosk.run.gameday.keys import Keys

WIDTH, HEIGHT = 80, 24
"""Minimum size of the terminal."""
_ESCAPE_WITHIN = 0.05
"""Seconds after which a lone escape byte is the escape key."""
_WRITABLE_WITHIN = 0.5
_DULL = ("", "dumb", "unknown")
_OPEN = "\x1b[?1049h\x1b[?25l\x1b[?2004h\x1b[2J"  # alternate screen, no cursor, bracketed paste, cleared
_CLOSE = "\x1b[?2004l\x1b[?25h\x1b[?1049l\x1b[0m"
_LFLAG, _IFLAG, _CC = 3, 0, 6  # indices in the result of tcgetattr


class TerminalLost(Exception):  # noqa: N818 - what happened
    """The terminal is gone."""


def refuse_unfit() -> None:
    """Raise UsageError unless this process has a terminal that is large enough."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError(
            "--game-day needs a terminal, but standard input or output is not one; run it in a terminal (over SSH: "
            "with `ssh -t`), or without --game-day"
        )
    if os.environ.get("TERM", "") in _DULL:
        raise UsageError("--game-day draws on the terminal, and TERM names none that can; set it, like TERM=xterm")
    columns, rows = size_of(sys.stdout.fileno())
    if columns < WIDTH or rows < HEIGHT:
        raise UsageError(
            f"--game-day needs a terminal of {WIDTH}x{HEIGHT}, and this one has {columns}x{rows}; make it larger"
        )


def size_of(descriptor: int) -> tuple[int, int]:
    """Return columns and rows; the minimum if the terminal does not report its size."""
    try:
        size = os.get_terminal_size(descriptor)
    except OSError:
        return WIDTH, HEIGHT
    return (size.columns, size.lines) if size.columns and size.lines else (WIDTH, HEIGHT)


class Terminal:
    """One terminal; one thread reads, one draws, and any may restore it."""

    def __init__(self, inlet: int = 0, outlet: int = 1) -> None:
        """The descriptors of keys and frames."""
        self._inlet, self._outlet = inlet, outlet
        self._before: list[Any] | None = None
        self._keys = Keys()
        self._drawn: list[str] = []
        self._size = (0, 0)

    def open(self) -> None:
        """Take the terminal; raises UsageError on failure."""
        try:
            self._before = termios.tcgetattr(self._inlet)
            termios.tcsetattr(self._inlet, termios.TCSANOW, _without_echo(termios.tcgetattr(self._inlet)))
            os.write(self._outlet, _OPEN.encode())
        except (OSError, termios.error) as error:
            raise UsageError(f"the terminal cannot be used: {error}") from error

    def close(self) -> None:
        """Restore the terminal, if it still exists; idempotent, raises nothing and does not wait for long."""
        before, self._before = self._before, None
        if before is None:
            return
        with suppress(OSError, termios.error):
            termios.tcsetattr(self._inlet, termios.TCSANOW, before)
        with suppress(OSError, ValueError):
            if select.select([], [self._outlet], [], _WRITABLE_WITHIN)[1]:
                os.write(self._outlet, _CLOSE.encode())

    @property
    def size(self) -> tuple[int, int]:
        """Columns and rows now."""
        return size_of(self._outlet)

    def read(self, within: float) -> list[str]:
        """Return the keys pressed within so many seconds; raises TerminalLost if the terminal is gone."""
        try:
            if not select.select([self._inlet], [], [], _ESCAPE_WITHIN if self._keys.half else within)[0]:
                return self._keys.feed(b"") if self._keys.half else []
            data = os.read(self._inlet, 4096)
        except OSError as error:
            raise TerminalLost(os.strerror(error.errno or 0).lower()) from error
        if not data:
            raise TerminalLost("it was closed")
        return self._keys.feed(data)

    def draw(self, rows: Sequence[str]) -> None:
        """Show these rows, with their colours; only changed ones are sent. Raises TerminalLost."""
        size = self.size
        again = size != self._size
        parts = ["\x1b[2J"] if again else []
        old = [] if again else self._drawn
        for number, row in enumerate(rows):
            if number >= len(old) or old[number] != row:
                parts.append(f"\x1b[{number + 1};1H{row}\x1b[0m\x1b[K")
        if parts:
            self._send("".join(parts).encode("utf-8", "replace"))
        self._drawn, self._size = list(rows), size

    def _send(self, data: bytes) -> None:
        try:
            while data:
                data = data[os.write(self._outlet, data) :]
        except OSError as error:
            raise TerminalLost(os.strerror(error.errno or 0).lower()) from error


def _without_echo(settings: list[Any]) -> list[Any]:
    """Return settings with unbuffered keys and no echo; Ctrl-C stays a signal, other keys cannot stop the program."""
    lflag, iflag, characters = settings[_LFLAG], settings[_IFLAG], settings[_CC]
    settings[_LFLAG] = (lflag & ~(termios.ICANON | termios.ECHO)) | termios.ISIG
    settings[_IFLAG] = iflag & ~(termios.IXON | termios.IXOFF)
    for name in (termios.VSUSP, termios.VQUIT):
        characters[name] = b"\0"
    characters[termios.VMIN], characters[termios.VTIME] = 1, 0
    return settings
