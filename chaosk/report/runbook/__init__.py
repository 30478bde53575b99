"""A runbook: the actions of a scenario, to be printed for a game day.

::

    content      scenario, rows of the preview -> all texts      markdown, html -> files
"""
