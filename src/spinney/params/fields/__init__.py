"""The table of parameters, a file for each group: every parameter is a field of a class that `Config` derives from."""
