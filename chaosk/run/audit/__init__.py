"""The tail audit: after healing, with all producers stopped, a fresh reader reads every topic from start to end.

::

    spec        the audit's parameters and its result
    ranges      the offsets to read of each partition
    reader      one reader, which proves that it read every offset
    tail_audit  both readers at once, and the groups' committed offsets
    missing     the offsets of records that were acknowledged, but not found

Once at read_uncommitted up to the high watermark, once at read_committed up to the last stable offset. It writes the
tables ``audit``, ``audit_ranges`` and ``groups``.
"""
