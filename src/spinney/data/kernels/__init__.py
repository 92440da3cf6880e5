"""The records of what is known about rows, and the sums of risk sets."""
