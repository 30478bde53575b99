"""Public contracts of steps, probes, targets, conditions and stop conditions, and the queries that they may use."""
