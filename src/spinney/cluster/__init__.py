"""A training that runs on the workers of a Dask cluster.

Enters: a Dask client, and tables whose partitions are futures. Leaves: what the training gave. Every worker that takes part is a
*rank*. It holds consecutive partitions, and joins the others through Dask's own connections. A rank that is lost costs time, not
the training: those that are left, and whoever came meanwhile, go on from the last finished round.

Nothing below this room knows Dask, and importing spinney does not import it.
"""
