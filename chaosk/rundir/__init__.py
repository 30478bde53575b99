"""What a run leaves on disk, the contract of its two halves: run writes it, analysis and reports read it."""
