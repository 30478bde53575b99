"""Secrets: read from the location that the inventory names, and hidden wherever a value could be printed."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from hmac import compare_digest
from pathlib import Path
from typing import NoReturn

from chaosk.core.errors import PreflightError
from chaosk.spec.inventory import SecretRef

_LARGEST = 64 * 1024
"""Bytes of a secret; certificates and keys are smaller."""
_WITHIN = 60.0
"""Seconds for a command that prints a secret: a password store may ask its user to unlock it."""


class Secret:
    """Text that only :meth:`reveal` returns: it never appears in logs, messages, tracebacks or pickles."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """Return the secret itself, only for the library that needs it."""
        return self._text

    def __repr__(self) -> str:
        return "Secret(hidden)"

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return repr(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and compare_digest(self._text.encode(), other._text.encode())

    def __hash__(self) -> int:
        return hash((Secret, self._text))

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Secret is never stored; pass on the reference to it")


def resolve(reference: SecretRef) -> Secret:
    """Read the secret that a reference names; one newline at its end is dropped. Raises PreflightError."""
    if reference.env is not None:
        value = os.environ.get(reference.env)
        if value is None:
            raise PreflightError(
                f"the environment variable {reference.env} is not set; it should hold a secret: set it"
            )
        return Secret(value)
    if reference.command is not None:
        return Secret(_printed(reference.command))
    return Secret(_read(Path(str(reference.file))))


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            text = file.read(_LARGEST + 1).decode("utf-8")
    except OSError as error:
        why = (error.strerror or "it cannot be read").lower()
        raise PreflightError(f"{path}: {why}; it should hold a secret: check the path and who may read it") from error
    except UnicodeDecodeError:
        # `from None`: the error quotes the bytes that it could not decode
        raise PreflightError(f"{path}: the secret in it is not UTF-8 text; save it as text") from None
    return _one(text, str(path))


def _printed(command: Sequence[str]) -> str:
    """Return what a command prints; its own errors go to the terminal, since they may ask its user for something."""
    name = f"the command {command[0]}, which should print a secret,"
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, timeout=_WITHIN, check=False)
        if done.returncode != 0:
            raise PreflightError(f"{name} failed with status {done.returncode}; run it by itself to see why")
        return _one(done.stdout.decode("utf-8"), name)
    except OSError as error:
        why = (error.strerror or "unknown reason").lower()
        raise PreflightError(f"{name} cannot be run: {why}; check its path") from error
    except subprocess.TimeoutExpired:
        raise PreflightError(f"{name} did not end within {_WITHIN:g} s; run it by itself to see why") from None
    except UnicodeDecodeError:
        raise PreflightError(f"{name} printed no UTF-8 text; let it print the secret as text") from None


def _one(text: str, name: str) -> str:
    if len(text) > _LARGEST:
        raise PreflightError(f"{name}: more than {_LARGEST} bytes, too long for a secret; check what is named")
    return text.removesuffix("\n").removesuffix("\r")
