"""The loops that turn data sets into models.

Enters: a `Dataset`, parameters. Leaves: a `Model`. Must not know: scikit-learn, files, the command line.
"""
