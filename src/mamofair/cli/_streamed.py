"""Parquet files that need not fit in memory: which ones, and opening them for `mamofair train`."""

from pathlib import Path

from mamofair._messages import quote_some
from mamofair.cli._train_options import TrainOptions
from mamofair.streaming import Stream, stream
from mamofair.streaming.blocks import as_bytes

__all__ = ["BUDGET", "is_streamed", "open_stream", "path_name"]

#: The memory for rows of a folder, unless another is given.
BUDGET = "2GB"


def is_streamed(options: TrainOptions) -> bool:
    """Return whether rows are read in chunks: those of folders, of large files, and with `--memory`."""
    path = Path(options.data)
    large = path.suffix.lower() == ".parquet" and path.is_file() and path.stat().st_size > as_bytes(BUDGET)
    return path.is_dir() or options.memory is not None or large


def open_stream(options: TrainOptions, coded: bool) -> Stream:
    """Return the rows after one pass over them; `coded` if the model takes text and missing values as they are."""
    if isinstance(options.favorable, tuple):
        raise ValueError(
            f"Streamed rows must have one favorable value: found {quote_some(options.favorable)}. Reduce "
            "the target to two values first."
        )
    if not 0 < options.test_fraction < 1:
        raise ValueError(f"`--test-fraction` must leave rows to train and to test on: found {options.test_fraction}.")
    rows = stream(
        *(options.data, str(options.target), options.favorable, options.sensitive, options.drop),
        memory=options.memory or BUDGET,
        test_fraction=options.test_fraction,
        seed=options.seed,
        file_format=options.file_format,
    )
    if not len(rows.scan.test):
        raise ValueError(f"`--test-fraction` must leave rows to test on: {options.test_fraction} leaves none.")
    return rows.as_codes() if coded else rows


def path_name(path: str) -> str:
    """Return the name of a folder, or of a file without its suffix."""
    return Path(path).resolve().name if Path(path).is_dir() else Path(path).stem
