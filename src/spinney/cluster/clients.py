"""The client, and whether its workers can take part."""

from __future__ import annotations

from collections import Counter
from typing import Any

from distributed import Client, default_client

from spinney import __version__
from spinney.errors import ParameterError, ParameterTypeError

_PATIENCE = 120.0  # seconds for an adaptive cluster to start a worker


def checked_client(client: Any) -> Client:
    """The client that is given, or else Dask's default one, once every worker was asked for its version of spinney.

    Raises
    ------
    ParameterError
        There is no client, it is closed or asynchronous, it has no workers, or one of them has no spinney or another one.
    ParameterTypeError
        It is no client.
    """
    if client is None:
        try:
            client = default_client()
        except ValueError:
            raise ParameterError(
                "client=None means Dask's default client, but there is none; make one first: client = dask.distributed.Client()"
            ) from None
    if not isinstance(client, Client):
        raise ParameterTypeError(
            f"client must be a dask.distributed.Client, got {type(client).__name__}; give the client first, then the data"
        )
    if client.asynchronous:
        raise ParameterError("client is asynchronous; give one that is not, Client(..., asynchronous=False)")
    if client.status != "running":
        raise ParameterError(f"client is {client.status}; give one that is connected to its scheduler")
    if not client.nthreads() and not _comes(client):
        raise ParameterError(
            "client has no workers; start some, and wait for them with client.wait_for_workers(1)"
        )
    _check_versions(client)
    return client


def _comes(client: Client) -> bool:
    """Whether an adaptive cluster starts a worker for a task, which it does for nothing else."""
    if getattr(client.cluster, "_adaptive", None) is None:
        return False
    try:
        client.submit(int, pure=False).result(timeout=_PATIENCE)
    except TimeoutError:
        return False
    return True


def _check_versions(client: Client) -> None:
    def version() -> (
        str | None
    ):  # a function within a function travels by value: a worker without spinney can run it
        try:
            import spinney
        except ImportError:
            return None
        return spinney.__version__

    found: dict[str, Any] = client.run(version, on_error="return")
    # A worker that is lost while it is asked does not matter: what it held is computed again.
    found = {worker: told for worker, told in found.items() if not isinstance(told, OSError)}
    for worker, told in found.items():
        if isinstance(told, Exception):
            raise ParameterError(
                f"the worker {worker} cannot be asked for its version of spinney: {told!r:.200}"
            )
    wrong = Counter(told for told in found.values() if told != __version__)
    if wrong:
        version_, count = wrong.most_common(1)[0]
        worker = next(one for one, told in found.items() if told == version_)
        has = "no spinney" if version_ is None else f"spinney {version_}"
        others = "" if count == 1 else f" ({count} workers have)"
        raise ParameterError(
            f"the worker {worker} has {has}{others}, but this process has {__version__}; install spinney=={__version__} on every "
            "worker"
        )
