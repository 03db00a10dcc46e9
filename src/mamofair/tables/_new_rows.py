"""Parts of a table: more rows for a model, or labels and groups without features."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from mamofair.tables._batches import read_batches, require_file
from mamofair.tables._encoder import TableEncoder
from mamofair.tables._open import open_source
from mamofair.tables._read import Table, read_table
from mamofair.tables.attributes import check_edges, name_groups, parse_attribute, parse_attributes
from mamofair.tables.file_format import FileFormat
from mamofair.tables.role_columns import read_roles
from mamofair.tables.source import Source

__all__ = ["read_attributes", "read_labels_and_groups", "read_new_rows"]


def read_new_rows(
    path: str | Path, encoder: TableEncoder, sensitive: Sequence[str], *, file_format: FileFormat = FileFormat()
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the encoder's features and the sensitive columns, such as "sex" or "age:25,60", of a file.

    Columns are read in the types that training used; there need not be a target, and all rows may be of one group.
    """
    require_file(path)
    source = open_source(path, file_format)
    bins = parse_attributes(list(sensitive), source.names)
    source.check([*encoder.feature_names_in_, *bins])
    features = pd.concat(
        [batch for _, batch in read_batches(path, encoder, file_format=file_format)], ignore_index=True
    )
    return features, read_attributes(path, sensitive, file_format=file_format)


def read_attributes(
    path: str | Path | Source, sensitive: Sequence[str], *, file_format: FileFormat = FileFormat()
) -> pd.DataFrame:
    """Return the groups of each sensitive column of a file, such as "sex" or "age:25,60"."""
    source = open_source(path, file_format)
    bins = parse_attributes(list(sensitive), source.names)
    source.check(list(bins))
    columns = read_roles(source, bins)
    return pd.DataFrame({name: name_groups(column, check_edges(name, bins[name])) for name, column in columns})


def read_labels_and_groups(
    path: str | Path,
    target: str,
    favorable: Any,
    sensitive: Sequence[str],
    *,
    file_format: FileFormat = FileFormat(),
) -> Table:
    """Return the labels and the sensitive columns of a file, whatever its other columns are."""
    source = open_source(path, file_format)
    source.check([target])
    needed = {target, *(parse_attribute(one, source.names)[0] for one in sensitive)}
    # `read_table` needs features: the sensitive columns serve, and the others are dropped.
    others = [name for name in source.names if name not in needed]
    return read_table(path, target, favorable, list(sensitive), others, keep_sensitive=True, file_format=file_format)
