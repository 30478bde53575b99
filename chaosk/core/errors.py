"""All errors that chaosk raises on purpose, with the exit code of each.

::

    ChaoskError              70  a guarantee of chaosk did not hold
    ├── UsageError           64  bad usage or bad input
    │   └── DocumentError    64  mistakes in a YAML file, all of them at once
    ├── PreflightError       69  unreachable, unsupported or unsafe: nothing was touched
    │   ├── HostError        69  one host: unreachable, key unknown or changed, no sudo
    │   └── LabError         69  the lab cannot be started, or is broken
    ├── ClusterError         70  the cluster does not answer, or its state is unknown
    ├── StepError            70  a step could not be carried out on a host
    │   └── ConnectionLost   70  the connection broke: the outcome of the command is unknown
    ├── EventLogError         2  events cannot be written or read: disk full, damaged file
    ├── AnalysisError         2  the evidence cannot be judged
    └── HealError             3  a fault could not be undone

A message states what happened, where (file:line, host, step) and how to fix it.
"""

from __future__ import annotations

from enum import IntEnum
from typing import ClassVar


class ExitCode(IntEnum):
    """Exit codes of the program; the table in the README is generated from this class."""

    PASS = 0
    FAIL = 1
    INCONCLUSIVE = 2
    NOT_HEALED = 3
    USAGE = 64
    PREFLIGHT = 69
    INTERNAL = 70
    INTERRUPTED = 130


class ChaoskError(Exception):
    """Root of the error tree; its message is printed without a traceback."""

    exit_code: ClassVar[ExitCode] = ExitCode.INTERNAL


class UsageError(ChaoskError):
    """A wrong command line, file name or value."""

    exit_code = ExitCode.USAGE


class PreflightError(ChaoskError):
    """The experiment may not start; nothing was touched."""

    exit_code = ExitCode.PREFLIGHT


class HostError(PreflightError):
    """A host cannot be used: unreachable, unknown key, no sudo."""

    def __init__(self, host: str, message: str) -> None:
        """``host`` is its name in the inventory; the message starts with that name."""
        super().__init__(f"{host}: {message}")
        self.host = host


class NoRootError(HostError):
    """A host was reached, and there is no right password to become root on it."""


class LabError(PreflightError):
    """The lab cannot be started, or is broken in a way that ``lab up`` cannot repair."""


class ClusterError(ChaoskError):
    """No broker answers, or the requested object does not exist."""


class StepError(ChaoskError):
    """A step could not be carried out."""


class ConnectionLost(StepError):  # noqa: N818 - the usual term; "ConnectionLostError" adds nothing
    """The connection to a host broke while a command ran: its outcome is unknown."""


class EventLogError(ChaoskError):
    """Events cannot be written or read: the disk is full, a file is damaged, a row does not fit its table."""

    exit_code = ExitCode.INCONCLUSIVE


class AnalysisError(ChaoskError):
    """The events of a run cannot be judged."""

    exit_code = ExitCode.INCONCLUSIVE


class HealError(ChaoskError):
    """A fault could not be undone: the cluster is not in its original state."""

    exit_code = ExitCode.NOT_HEALED
