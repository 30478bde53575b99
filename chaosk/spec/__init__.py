"""User input as typed values: scenarios, inventories, expectations, expressions; and the contracts of plugins."""
