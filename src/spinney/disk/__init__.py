"""Data sets on disk: the codes of a table in pages, written once and read whenever they are needed.

Enters: batches of rows, or files, that are read again and again (`data/sources.py`); a folder that was written before.

Leaves: a `BinnedData` of the same cuts, groups and codes as one in memory, whose codes come block by block; and a folder that can
be opened again.

Does not depend on trees, losses or training. What is in a folder is not trusted: every number in it is checked before it is used.
"""
