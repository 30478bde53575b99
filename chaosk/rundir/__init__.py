"""The contract of a run's files on disk: ``run`` writes them, ``analysis`` and ``report`` read them."""
