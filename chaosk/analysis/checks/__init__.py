"""Checks, one file a rule: each a question to the events whose answer is the rows that break it."""
