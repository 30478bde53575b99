"""Symbolic targets, one file each: ``leader(orders, 0)``, ``controller``, ``zookeeper follower``, ``random(1)``."""
