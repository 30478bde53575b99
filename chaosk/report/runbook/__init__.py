"""A runbook: what a scenario will do, to be printed and held in the hand on a game day.

::

    content      scenario, rows of the preview -> all that is said      markdown, html -> files
"""
