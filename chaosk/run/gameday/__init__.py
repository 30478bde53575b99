"""A game day: an operator at a terminal decides on each step, and sees the state of cluster and probes.

::

    session      desk, console and watchers of a run; started and ended with it
    desk         the open question, its time limit, the decisions
    console      two threads: one reads keys, one draws
    keys         bytes of a terminal -> keys           terminal     raw mode, size, frames; put back on every exit
    view         the content of the screen, a value    screen, sections             view -> rows of text
    latencies    the tail of the probes' own events    groups       consumer groups, observed without joining

Nothing here heals. To end a run it sets the event that Ctrl-C sets, and the engine heals.
"""
