"""Steps, one file for each kind: the actions of timeline entries."""
