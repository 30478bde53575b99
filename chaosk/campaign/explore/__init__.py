"""Random sequences of faults from a declared space, run until one shows a violation, which is then made shorter.

::

    space        what can be drawn: faults, their values and durations, how many, and when
    sequence     what was drawn, and the scenario that it makes
    draw         space + seed + round -> sequence
    fit          which sequences no run would carry out
    breach       what a run showed to be wrong
    record       explore.json: what was to be tried, and what became of it
    trial        one sequence as a `chaosk run`
    rounds       one sequence after the other, until something is found
    ddmin        the few of many that it takes
    smaller      simpler sequences than the one that was found
    shrink       trying those
    outcome      the exit code, and what it rests on
    files        explore.md, and the sequences that were found as scenarios
"""
