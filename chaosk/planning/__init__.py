"""A scenario, an inventory and a seed become concrete faults; what is refused as unsafe. No network."""
