"""The history of runs, read from run directories alone, without a database and without a cluster.

::

    folders      the search for run directories below folders, also those of gates; other folders are reported
    stored       one run directory: its verdict, and scenario and cluster from its plan
    history      many runs as rows over time, grouped by scenario and cluster
    trend        a figure over time in one line of text
    historic     a history as terminal output, JSON and CSV
    comparison   runs side by side; differences: of their plans; series: over time, from their events
    overlay      a plot of the series of several runs
    compared     a comparison as terminal output, page, Markdown and JSON
    roles        the roles of target expressions; clients: the settings of a scenario's clients
    fits         the roles that each fault can be aimed at
    coverage     the combinations that were tried, and those that never were; covered: its output

A run directory is untrusted: no link in it is followed, and the amount read from it is bounded.
"""
