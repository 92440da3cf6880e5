"""Ratios against other libraries, measured in one run: `python -m benchmarks`.

Enters: case names and options. Leaves: a table of ratios on the terminal and the same rows as JSON.
It knows spinney only by its public names, and says yes or no to a target; it never fails on a time.

The files, in the order the data flows: `generate` and `data` make tables, `peers/` teaches each library the
same four verbs, `timing` interleaves them, `cases/` holds what is measured, `verdict` and `rows` judge it,
`report` shows it, `registry` lists the cases.
"""
