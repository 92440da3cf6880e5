"""The kernel that grows isolation trees (`grow`), and its records.

All draws of a node depend on the path from the root, so trees do not depend on threads.
"""
