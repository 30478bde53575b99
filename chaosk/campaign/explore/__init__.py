"""Random sequences of faults from a declared space, run until one shows a violation; that one is then minimized.

::

    space        the set of possible faults: their values, durations, number and times
    sequence     the drawn faults, and their scenario
    draw         space + seed + round -> sequence
    fit          refusal of sequences that no run would execute
    breach       the violations of a run
    record       explore.json: the settings and all trials
    trial        one sequence as a `chaosk run`
    rounds       one sequence after the other, until one fails
    ddmin        delta debugging
    smaller      simpler sequences than the failing one
    shrink       trials of these
    outcome      the exit code, and its reasons
    files        explore.md, and failing sequences as scenarios
"""
