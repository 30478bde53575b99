"""Conditions that stop a run at once and undo everything, one file each."""
