"""The gate of a release: a folder of scenarios, run one at a time or side by side, and judged together.

::

    choice       the files and variants, and their order
    record       gate.json: the runs to make, and their results
    store        a document that is rewritten after every run
    child        one `chaosk run` as a process
    lanes        the assignment of attempts to clusters
    conduct      executing attempts, in one lane or several, and stopping
    attempts     the result of an attempt, from its run directory
    spread       several runs' figures as a median and an interval
    regression   the comparison with a baseline, with error rates
    sidebyside   the variants of a file as columns of a table
    outcome      the exit code, and its reasons
    html  markdown  junit  files      the report
"""
