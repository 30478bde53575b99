"""What runs left behind, as one body of knowledge: read from run directories alone, with no database and no cluster.

::

    folders      where runs are: below folders, those of gates too; what is none is named and passed over
    stored       one run directory as far as it tells: verdict, and what its plan says of scenario and cluster
    history      many runs as rows over time, grouped by scenario and cluster
    trend        a figure over time in one line of text
    historic     a history for terminals and for programs
    comparison   runs side by side; differences: of their plans; series: over time, from their events
    overlay      the series drawn over each other
    compared     a comparison for terminals, as a page and for programs
    roles        what a target expression aims at; clients: the settings of a scenario's clients
    fits         which faults can be aimed at which roles
    coverage     what was tried and what never was; covered: the same for terminals and in Markdown

A run directory may come from elsewhere: no link in it is followed, and what is read of it is bounded.
"""
