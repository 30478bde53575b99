"""Many runs: a gate for releases, a search for failing sequences of faults, and the history of runs."""
