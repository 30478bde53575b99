"""Questions to the person at chaosk's terminal, one at a time; answers are kept by who asks."""

from __future__ import annotations

import getpass
import sys
import threading

from chaosk.core.printable import printable
from chaosk.spec.secrets import Secret

_LOCK = threading.Lock()


def is_there() -> bool:
    """Return whether somebody can be asked."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def ask(question: str, *, echo: bool = False) -> Secret:
    """Return what is typed, which is shown only with ``echo``; empty at the end of input."""
    with _LOCK:
        text = f"chaosk: {printable(question).rstrip(' :')}: "
        try:
            if not echo:
                return Secret(getpass.getpass(text, stream=sys.stderr))
            sys.stderr.write(text)
            sys.stderr.flush()
            return Secret(sys.stdin.readline().rstrip("\r\n"))
        except EOFError:
            return Secret("")


def tell(text: str) -> None:
    """Show what a server says before it asks."""
    with _LOCK:
        sys.stderr.write(f"chaosk: {printable(text)}\n")
        sys.stderr.flush()
