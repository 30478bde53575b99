"""What users write, as typed values: scenarios, inventories, expectations, expressions; and what plugins implement."""
