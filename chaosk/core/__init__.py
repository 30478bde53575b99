"""Shared foundations: errors, units, the base of typed values, plugins, wording. Imports nothing else of chaosk."""
