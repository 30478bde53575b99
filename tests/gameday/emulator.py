"""A terminal emulator with a program in it: keys in, screen out."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import termios
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import pyte
import pytest

SETTLED = 0.7
"""Seconds after which a question that was just shown takes an answer."""


class Emulator:
    """A program at a terminal of its own; a context manager that leaves nothing running."""

    def __init__(
        self, words: Sequence[str], env: dict[str, str], size: tuple[int, int] = (80, 24), *, controlling: bool = True
    ) -> None:
        """``controlling``: whether the program gets SIGHUP when the terminal goes, as in a session of SSH."""
        self._master, slave = pty.openpty()
        self.resize(*size)
        self.settings = termios.tcgetattr(slave)
        self._slave = slave
        self._screen = pyte.Screen(*size)
        self._stream = pyte.ByteStream(self._screen)
        self._lock = threading.Lock()
        self.raw = b""

        def take() -> None:
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        self.process = subprocess.Popen(
            list(words), stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
            env={**os.environ, "TERM": "xterm", **env}, preexec_fn=take if controlling else None,  # noqa: PLW1509 - one ioctl
        )  # fmt: skip
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """End what still runs."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for descriptor in (self._slave, self._master):
            os.close(descriptor)
        self._reader.join(5)

    @property
    def text(self) -> str:
        """What is on the screen, row by row."""
        with self._lock:
            return "\n".join(self._screen.display)

    def shows(self, text: str, within: float = 30.0) -> str:
        """Wait until the screen shows ``text``; the screen."""
        end = time.monotonic() + within
        while text not in self.text:
            if time.monotonic() > end or self.process.poll() is not None:
                pytest.fail(f"never showed {text!r} ({self.process.poll()}):\n{self.text}\n{self.raw[-2000:]!r}")
            time.sleep(0.05)
        return self.text

    def press(self, keys: str) -> None:
        """Type."""
        os.write(self._master, keys.encode())

    def answer(self, key: str, question: str) -> None:
        """Answer a question once it is there, and was there long enough to be read."""
        self.shows(question)
        time.sleep(SETTLED)
        self.press(key)

    def resize(self, columns: int, rows: int) -> None:
        """Give the terminal another size."""
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        if hasattr(self, "_screen"):
            with self._lock:
                self._screen.resize(rows, columns)

    def hang_up(self) -> None:
        """The terminal is gone, as a connection that broke."""
        with Path(os.devnull).open("r+b") as nothing:  # their numbers stay ours: at the end each is closed once
            for descriptor in (self._slave, self._master):
                os.dup2(nothing.fileno(), descriptor)

    def finish(self, within: float = 60.0) -> int:
        """The exit code, once it ended."""
        return self.process.wait(within)

    def settings_now(self) -> list[Any]:
        """What the terminal is set to."""
        return termios.tcgetattr(self._slave)

    def _read(self) -> None:
        while True:
            try:
                data = os.read(self._master, 65536)
            except OSError:
                return
            if not data:
                return
            self.raw += data
            with self._lock:
                self._stream.feed(data)
