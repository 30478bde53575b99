"""A probe in a separate process: ``python -m chaosk.probes.worker SPEC.json``, and its start and end by the run.

::

    spec       input of the process: probe, incarnation, folder of its events
    __main__   the process: resolves secrets, ends on SIGTERM or with its parent, reports on stdout
    flusher    keeps the event log flushed while the probe's loop is blocked
    lifeline   tells a child that its parent is gone
    child      starts, ends and kills such a process, reads its output
    process    a child that is a probe
"""
