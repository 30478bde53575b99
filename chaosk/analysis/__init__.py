"""Findings and measures from the events of a run, computed with PySpark."""
