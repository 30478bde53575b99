"""A probe as a process of its own: ``python -m chaosk.probes.worker SPEC.json``, and how the run starts and ends one.

::

    spec       what the process is told: which probe, whose incarnation, where its events go
    __main__   the process: resolves secrets, ends on SIGTERM or with its parent, reports on stdout
    flusher    keeps the event log flushed while the probe's loop is held up
    lifeline   how a child learns that its parent is gone
    child      starts, ends and kills such a process, reads what it says
    process    a child that is a probe
"""
