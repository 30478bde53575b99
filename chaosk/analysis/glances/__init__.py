"""What checks look at before Spark is asked: the rows of a run that fits into memory, as numpy arrays."""
