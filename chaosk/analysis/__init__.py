"""Events to findings and measures, in PySpark: DataFrame in, DataFrame out."""
