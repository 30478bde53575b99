"""A game day: somebody at a terminal decides about each step, and sees meanwhile how the cluster and its users are.

::

    session      what a run needs for it: desk, console, watchers; begun and ended with the run
    desk         the open question, its time limit, who decided what
    console      two threads: one reads keys, one draws
    keys         bytes of a terminal -> keys           terminal     raw mode, size, frames; put back on every exit
    view         all that is shown, as a value         screen, sections, asked      view -> rows of text
    latencies    the tail of the probes' own events    groups       consumer groups, looked at without joining

Nothing here heals. To end a run it sets the event that Ctrl-C sets, and the engine does the rest.
"""
