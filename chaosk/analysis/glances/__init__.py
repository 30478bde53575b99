"""Rows of a run that fits into memory, as numpy arrays: checks examine them before Spark."""
