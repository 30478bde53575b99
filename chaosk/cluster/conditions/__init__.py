"""Conditions on the live cluster, one file each: ``isr_full(orders)``, ``broker_up(2)``, ``caught_up(reader)``."""
