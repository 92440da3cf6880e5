"""The kernel that grows isolation trees (`grow`), and its records."""
