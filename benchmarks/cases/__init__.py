"""What is measured: one small file per group of cases. Enters: a `Bench`. Leaves: rows."""
