"""A plan becomes a run directory: faults are injected and undone, probes work, everything is written down.

::

    engine      the phases of a run, and healing whatever happens
    timeline    when each entry starts: on a time, after another entry, on a condition
    faults      the life of one fault: before, journal, inject, verify, verify again, undo, healed
    hands       carries out deeds and asks facts
    journal     undos on disk before their fault
    crew        the processes beside us: probes and the watcher
    drain       whether the consumers have read what was written
    preflight   whether the run may start: a package, as are watcher, audit, replica_logs and gameday
    display     what a person sees meanwhile
"""
