"""Checks, one module per rule: each returns the rows of the recorded events that break its rule."""
