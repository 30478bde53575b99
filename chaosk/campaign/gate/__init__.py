"""A folder of scenarios, run alone or side by side, judged together: what a release has to get through.

::

    choice       which files and variants, in which order
    record       gate.json: what was to be run, and what became of it
    store        a document that is kept anew after every run
    child        one `chaosk run` as a process
    lanes        which of several clusters runs which attempt
    conduct      attempts, in one lane or several, and when to stop
    attempts     what a run directory says of an attempt
    spread       several runs' figures as a median and an interval
    regression   against a baseline: which figures are worse, and how sure that is
    sidebyside   the variants of a file as columns of a table
    outcome      the exit code, and what it rests on
    html  markdown  junit  files      the report
"""
