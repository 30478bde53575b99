"""The operator's console: one thread reads keys, one draws, and neither blocks the run."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Self

import structlog

from chaosk.run.display import Status
from chaosk.run.gameday.groups import Watched
from chaosk.run.gameday.operator import Operator
from chaosk.run.gameday.screen import painted, screen
from chaosk.run.gameday.terminal import Terminal, TerminalLost
from chaosk.run.gameday.view import ConsoleView, Mode

log = structlog.get_logger()

REDRAW = 0.25
"""Seconds between two frames, unless an event is to be shown at once."""
_KEEP = 500
_END_WITHIN = 1.0


class Console:
    """The display of a game day; use as a context manager. See :class:`chaosk.run.display.Display`."""

    def __init__(self, terminal: Terminal, desk: Operator, scenario: str) -> None:
        self._terminal, self._desk, self._scenario = terminal, desk, scenario
        self._began = time.monotonic()
        self._status = Status(phase="", elapsed=0.0)
        self._said: deque[str] = deque(maxlen=_KEEP)
        self._mode: Mode = "keys"
        self._typed, self._scrolled, self._about = "", 0, ""
        self._look = threading.Event()
        self._ended = threading.Event()
        self._threads: list[threading.Thread] = []
        self.latencies: Callable[[], Mapping[str, float]] = dict
        """Called before each frame for the latencies of the probes."""
        self.groups: Callable[[], tuple[Watched, ...]] = tuple
        """Called before each frame for the consumer groups."""

    def __enter__(self) -> Self:
        """Take the terminal and start to draw."""
        self._terminal.open()
        self._threads = [
            threading.Thread(target=self._work, args=(work,), name=name, daemon=True)
            for name, work in (("keys", self._read), ("picture", self._draw))
        ]
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Restore the terminal."""
        self.close()

    def close(self) -> None:
        """Restore the terminal; idempotent, from any thread. A write that hangs is not waited for."""
        self._ended.set()
        self._look.set()
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join(_END_WITHIN)
        self._terminal.close()

    @property
    def said(self) -> tuple[str, ...]:
        """The run's messages, to be printed once the screen is restored."""
        return tuple(self._said)

    def say(self, line: str) -> None:
        """Add a message that stays."""
        self._said.append(f"{time.monotonic() - self._began:7.1f}s  {line}")
        self._look.set()

    def show(self, status: Status) -> None:
        """Set the state for the next frame."""
        self._status = status

    # --- keys ---------------------------------------------------------------------------------------------------------

    def _work(self, work: Callable[[], None]) -> None:
        """Call a function repeatedly; a defect in it must neither end the display nor disable the keys."""
        try:
            while not self._ended.is_set():
                try:
                    work()
                except TerminalLost:
                    raise
                except Exception as error:  # noqa: BLE001 - see above
                    log.warning("console", problem=f"{type(error).__name__}: {error}")
                    self._ended.wait(REDRAW)
        except TerminalLost as lost:
            if not self._ended.is_set():
                self._desk.stop("lost", str(lost))
                if self._desk.over:
                    return
                self.say(f"the terminal is gone ({lost}): ending the run and healing all faults")

    def _read(self) -> None:
        self._desk.mind_signals()
        for key in self._terminal.read(0.1):
            self.press(key)
            self._look.set()

    def press(self, key: str) -> None:
        """Handle a key."""
        {"keys": self._command, "note": self._write, "confirm": self._confirm}[self._mode](key)

    def _command(self, key: str) -> None:
        if key == "h":
            self._stop("h")
        elif key in ("q", "n"):
            self._mode, self._typed = "confirm" if key == "q" else "note", ""
        elif key in ("g", "s"):
            self._desk.answer("go" if key == "g" else "skip")
        elif key in ("up", "down", "page up", "page down"):
            step = 1 if key in ("up", "down") else 5
            self._scrolled = max(0, self._scrolled + (step if key.endswith("down") else -step))

    def _write(self, key: str) -> None:
        if key == "enter":
            text, self._mode = self._typed.strip(), "keys"
            if text:
                self._desk.note(text)
                self.say(f"note: {text}")
        elif key == "escape":
            self._mode = "keys"
        elif key == "backspace":
            self._typed = self._typed[:-1]
        elif len(key) == 1 or key.startswith("paste "):
            self._typed += key if len(key) == 1 else key.removeprefix("paste ")

    def _confirm(self, key: str) -> None:
        self._mode = "keys"
        if key in ("y", "h"):
            self._stop("q")

    def _stop(self, key: str) -> None:
        if not (self._desk.stopping or self._desk.over):
            self.say(f"{self._desk.operator}: heal and stop; healing all faults")
            self._desk.stop("stop", key)

    # --- frames -------------------------------------------------------------------------------------------------------

    def _draw(self) -> None:
        width, height = self._terminal.size
        self._terminal.draw(painted(screen(self.view(), width, height), width))
        self._look.wait(REDRAW)
        self._look.clear()

    def view(self) -> ConsoleView:
        """Return the content of the next frame."""
        opened = self._desk.open
        about = opened.question.entry if opened else ""
        if about != self._about:
            self._about, self._scrolled = about, 0
        return ConsoleView(
            scenario=self._scenario,
            operator=self._desk.operator,
            status=self._status,
            asked=opened,
            mode=self._mode,
            typed=self._typed,
            scrolled=self._scrolled,
            stopping=self._desk.stopping,
            over=self._desk.over,
            said=self.said,
            latencies=self.latencies(),
            groups=self.groups(),
        )
