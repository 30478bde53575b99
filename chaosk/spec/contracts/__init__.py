"""What steps, probes, targets, conditions and stop conditions implement, and what they may ask. Public."""
