"""The records of what is known about rows."""
