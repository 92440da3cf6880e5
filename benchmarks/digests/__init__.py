"""Digests of many small models, by which one tells whether a change has changed any of them.

`python -m benchmarks.digests FILE` writes a line for each: a digest, and what was done. Run it before a change that should
leave models alone, and `python -m benchmarks.digests --compare FILE` after it, which names those that differ.

A digest is of all bytes that users can see: files without the version of the library, metrics, predictions, importances.
Everything runs on two threads.
"""
