"""Probes, one file a kind: clients of the cluster that log everything they do and are told, each its own process."""
