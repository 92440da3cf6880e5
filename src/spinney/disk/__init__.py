"""Data sets on disk: the codes of a table in pages, written once and read whenever they are needed.

Enters: batches of rows, or files, that are read again and again (`data/sources.py`); a folder that was written before.

Leaves: a `BinnedData` of the same cuts, groups and codes as one in memory, whose codes come block by block; and a folder that can
be opened again.

Does not depend on trees, losses or training. What is in a folder is not trusted: every number in it is checked before it is used.

A *page* is a file with the codes of some rows. A data set is made without ever holding all rows: rows are read several times
(`batches`), and every later reading is compared with the first (`consistency`). The first one counts rows, categories and
entries, and collects labels and the rows that a table in memory would be cut from; the last one writes drafts (`drafts`). If no
column is to be listed, drafts are the pages. `executor` has the order of these steps, `page` packs codes, `header` and `folder`
have what stands beside the pages, `open` and `blocks` read them. `Dataset.from_files` and `from_batches` import this package when
they are called.
"""
