"""Predictions from Parquet to Parquet, a file or a folder: columns stay as they are, and two are added."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd
from scipy.special import expit

from mamofair._messages import quote
from mamofair.runs import replaced_file
from mamofair.streaming.parquet import open_shards
from mamofair.tables import open_source
from mamofair.tables.columns import tidy
from mamofair.tables.parquet import from_arrow

if TYPE_CHECKING:
    from mamofair.estimators import FairClassifier

__all__ = ["write_folder", "write_parquet"]

#: What takes the features of each batch.
Count: TypeAlias = Callable[[pd.DataFrame], None]

_ROWS = 50_000  # in memory, and in a row group


def write_folder(model: "FairClassifier", folder: Path, out: Path, count: Count) -> np.ndarray:
    """Write each Parquet file of a folder, with predictions, under its own name; return which rows are favorable.

    A file appears once it is complete, so that after an interruption those that are there can be used.
    """
    shards = open_shards(folder)
    for shard in shards:  # before the first file is written
        open_source(shard.path).check(list(model.encoder_.feature_names_in_))
    decided = [np.zeros(0, dtype=bool)]
    for shard in shards:
        with replaced_file(out / shard.path.relative_to(folder)) as file:
            decided.append(write_parquet(model, shard.path, file, count))
    return np.concatenate(decided)


def write_parquet(model: "FairClassifier", table: Path, file: Any, count: Count) -> np.ndarray:
    """Write the rows of a Parquet file with predictions and scores, and return which are favorable.

    Each batch of features is also given to `count`.
    """
    wanted = list(model.encoder_.feature_names_in_)
    open_source(table).check(wanted)  # says if pyarrow is missing
    import pyarrow as pa
    import pyarrow.parquet as pq

    decided = [np.zeros(0, dtype=bool)]
    with pq.ParquetFile(table) as source:
        schema = source.schema_arrow
        if taken := [name for name in ("prediction", "score") if name in schema.names]:
            raise ValueError(f"{table.name} already has a column {quote(taken[0])}: rename or remove it.")
        label = pa.array(model.classes_.tolist()).type
        schema = schema.append(pa.field("prediction", label)).append(pa.field("score", pa.float64()))
        with pq.ParquetWriter(file, schema) as writer:
            for batch in source.iter_batches(_ROWS):
                columns = {name: tidy(from_arrow(batch[name], name)) for name in wanted}
                features = pd.DataFrame(columns, copy=False)
                scores = _favorable_scores(model, features)
                count(features)
                labels = model.classes_[np.where(scores > 0, *model.search_.task.places)]
                added = [pa.array(labels.tolist(), label), pa.array(expit(scores))]
                writer.write_batch(pa.RecordBatch.from_arrays([*batch.columns, *added], schema=schema))
                decided.append(scores > 0)
    return np.concatenate(decided)


def _favorable_scores(model: "FairClassifier", features: pd.DataFrame) -> np.ndarray:
    sign = 1 if model.classes_[1] == model.favorable_ else -1
    return np.asarray(sign * model.decision_function(features))
