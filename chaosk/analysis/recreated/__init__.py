"""Runs in which a topic was deleted and created again: its generations told apart, and their events renumbered."""
