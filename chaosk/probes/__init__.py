"""Probes, one file each: clients of the cluster that log every action and every answer, each in its own process."""
