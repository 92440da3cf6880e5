"""What runs in a process of its own; each script prints one line of JSON."""
