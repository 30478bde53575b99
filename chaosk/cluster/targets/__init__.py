"""Symbolic targets, one file a kind: ``leader(orders, 0)``, ``controller``, ``zookeeper follower``, ``random(1)``."""
