"""The watcher: a process of its own that samples a cluster, each broker separately, during a run.

::

    spec         the watcher's parameters
    state        a summary of the cluster, for the live display
    sampling     one thread a broker and a ZooKeeper node: none waits for another
    process      starts it, reads its state, ends it

``python -m chaosk.run.watcher SPEC.json`` writes the tables ``partitions``, ``offsets``, ``brokers``, ``zookeepers``,
``quorum`` and ``clocks``, and its state as a JSON line on stdout twice a second. It ends at SIGTERM, and when its
stdin is closed, as it is when its parent process dies. (Not by PR_SET_PDEATHSIG: that counts the death of the
*thread* that started it.) A request that was not answered in time is an event too; a broker that was not asked has
no rows.
"""
