"""Conditions under which a run stops at once and everything is undone: the contract, and one file each."""
