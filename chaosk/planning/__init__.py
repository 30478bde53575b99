"""Concrete faults from scenario, inventory and seed, and refusal of unsafe ones. No network."""
