"""Dask frames as streams: the workers write them to Parquet files, which are read in each epoch."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from mamofair._messages import quote

if TYPE_CHECKING:
    from mamofair.streaming.table import Stream

__all__ = ["current_client", "is_dask", "written_stream"]


def is_dask(X: Any) -> bool:
    """Whether this is a Dask frame, which exists only if Dask has been imported."""
    return "dask.dataframe" in sys.modules and isinstance(X, sys.modules["dask.dataframe"].DataFrame)


def current_client() -> Any:
    """Return the client of the cluster that Dask uses here, or None."""
    if "distributed" not in sys.modules:
        return None
    try:
        return sys.modules["distributed"].default_client()
    except ValueError:  # Dask computes in this process
        return None


@contextmanager
def written_stream(X: Any, y: Any, sensitive_features: Any, favorable: Any) -> Iterator["Stream"]:
    """Yield the rows of Dask frames as a stream, whose files are in Dask's temporary folder for as long as this lasts.

    Workers on other machines must be able to write to that folder, and to read it.
    """
    from dask import config

    from mamofair.streaming.table import stream

    if not hasattr(y, "to_frame") or not hasattr(sensitive_features, "dask"):
        raise TypeError("`y` and `sensitive_features` must be Dask frames, as X is: take them from the same one.")
    target = str(y.name or "target")
    people = sensitive_features.to_frame() if hasattr(sensitive_features, "to_frame") else sensitive_features
    if target in [*X.columns, *people.columns]:
        raise ValueError(f"`X` and `sensitive_features` must not have the target {quote(target)} as a column. Drop it.")
    among = [name for name in people.columns if name in X.columns]
    if among and len(among) < len(people.columns):
        raise ValueError(
            f"Either all sensitive attributes or none must be columns of a Dask frame X: found {quote(among[0])} there."
        )
    table = X.assign(**{name: people[name] for name in people.columns}, **{target: y})
    with TemporaryDirectory(prefix="mamofair-", dir=config.get("temporary-directory", None)) as folder:
        table.to_parquet(folder, write_index=False)
        sensitive = list(people.columns)
        yield stream(folder, target, favorable, sensitive, keep_sensitive=bool(among)).with_labels()
