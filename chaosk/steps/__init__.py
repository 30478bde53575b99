"""Steps, one file a kind: what a timeline entry does to the cluster."""
