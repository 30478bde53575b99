"""Many runs: the gate for releases, the exploration of random faults, and the history of runs."""
