"""Executing a plan: faults are injected and undone, probes work, and the run directory is written.

::

    engine      the phases of a run, and healing on every exit
    timeline    the start of each entry: at a time, after another entry, on a condition
    faults      the life of one fault: before, journal, inject, verify, verify again, undo, healed
    hands       executing deeds and evaluating facts
    journal     undos on disk before their fault
    crew        the processes of the probes
    drain       the test for consumers with unread records
    preflight   the examination before a run: a package, as are watcher, audit, replica_logs and gameday
    display     the output during a run
"""
