"""The tail audit: after healing, with all producers stopped, a fresh reader reads every topic from start to end.

::

    spec        what to read, and where the events go; what came of it
    ranges      from where to where each partition has to be read
    reading     one reader: what it found, and whether it saw all there is
    auditing    both readers at once, and the groups' committed offsets

Once at read_uncommitted up to the high watermark, once at read_committed up to the last stable offset. It writes the
tables ``audit``, ``audit_ranges`` and ``groups``. ``python -m chaosk.run.audit SPEC.json`` does it in a process of its
own.
"""
