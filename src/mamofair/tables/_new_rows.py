"""Parts of a table: more rows for a model, or labels and groups without features."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from mamofair.tables._batches import read_batches
from mamofair.tables._encoder import TableEncoder
from mamofair.tables._open import open_source
from mamofair.tables._read import Table, read_features, read_table
from mamofair.tables.attributes import check_edges, name_groups, parse_attribute, parse_attributes

__all__ = ["read_labels_and_groups", "read_new_rows"]


def read_new_rows(path: Path, encoder: TableEncoder, sensitive: Sequence[str]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the encoder's features and the sensitive columns, such as "sex" or "age:25,60", of a CSV or Parquet file.

    Columns are read in the types that training used; there need not be a target, and all rows may be of one group.
    """
    source = open_source(path)
    bins = parse_attributes(list(sensitive), source.names)
    source.check([*encoder.feature_names_in_, *bins])
    features = pd.concat([batch for _, batch in read_batches(path, encoder)], ignore_index=True)
    columns = read_features(path, list(bins))
    return features, pd.DataFrame({name: name_groups(columns[name], check_edges(name, bins[name])) for name in bins})


def read_labels_and_groups(path: Path, target: str, favorable: str | None, sensitive: Sequence[str]) -> Table:
    """Return the labels and the sensitive columns of a CSV or Parquet file, whatever its other columns are."""
    source = open_source(path)
    source.check([target])
    needed = {target, *(parse_attribute(one, source.names)[0] for one in sensitive)}
    # `read_table` needs features: the sensitive columns serve, and the others are dropped.
    others = [name for name in source.names if name not in needed]
    return read_table(path, target, favorable, list(sensitive), others, keep_sensitive=True)
