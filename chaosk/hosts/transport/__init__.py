"""Commands as values, and the one place that carries them to a host."""
