"""Rows of Parquet files that `mamofair train` reads a piece at a time, because they need not fit in memory."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mamofair._messages import quote
from mamofair._rows.groups import Groups, read_groups
from mamofair.cli._asked import Asked
from mamofair.cli._notes import note
from mamofair.estimators import FairClassifier, FairNetClassifier
from mamofair.fronts import Counter, Tally
from mamofair.streaming import Stream, stream
from mamofair.streaming.blocks import as_bytes
from mamofair.tables import TableEncoder

_BUDGET = "2GB"


@dataclass(frozen=True, eq=False)
class StreamedData:
    """The rows to learn from and the test rows of a stream; which label is favorable; and what identifies them."""

    name: str
    crossed: bool
    stream: Stream

    @property
    def target(self) -> str:
        """The column to predict."""
        return self.stream.roles.target

    @property
    def favorable(self) -> Any:
        """The favorable label."""
        return np.array(self.stream.labels)[1].item()

    @property
    def checksum(self) -> str:
        """What identifies the rows."""
        return self.stream.checksum

    @property
    def sizes(self) -> tuple[int, int]:
        """How many rows there are to learn from, and to test on."""
        return len(self.stream.scan.census), len(self.stream.scan.test)

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return sum(self.sizes)

    @property
    def attributes(self) -> list[str]:
        """The sensitive columns."""
        return list(self.stream.roles.edges)

    @property
    def encoder(self) -> TableEncoder:
        """What encodes a frame of features."""
        return self.stream.encoder

    def groups(self) -> dict[str, dict[str, dict[str, int]]]:
        """Return how many rows, and how many with the favorable label, each group of each attribute has."""
        census, found = self.stream.scan.census + self.stream.scan.test, dict[str, dict[str, dict[str, int]]]()
        for i, name in enumerate(census.names):
            own = found.setdefault(name, {})
            for (label, *people), count in sorted(census.cells.items(), key=lambda cell: str(cell[0][i + 1])):
                if people[i] is not None:
                    counts = own.setdefault(people[i], {"rows": 0, "positives": 0})
                    counts["rows"] += count
                    counts["positives"] += count * (label == self.stream.labels[1])
        return found

    def limit(self) -> pd.DataFrame | None:
        """Return no limit, for which all rows would have to be in memory."""
        return None

    def fitting(self, estimator: FairClassifier) -> Iterator[FairClassifier]:
        """Yield the estimator as it learns."""
        assert isinstance(estimator, FairNetClassifier)
        memory, pieces = f"{self.stream.memory / 1e6:,.0f} MB", len(self.stream)
        note(f"{self.rows:,} rows in {pieces:,} pieces are read again each epoch, within {memory} of memory.")
        return estimator.resume_stream(self.stream.with_labels())

    def tested(self, estimator: FairClassifier) -> list[Tally]:
        """Return each point's counts on test rows, a few at a time for all points."""
        names, values = zip(*estimator.front_.groups.items(), strict=True)
        known, total = Groups(names, values, np.empty((0, len(names)), dtype=int)), list[Tally]()
        for X, y, features, *_ in self.stream.test:
            if not len(y):
                continue
            people = read_groups(features, whole=False)
            people = (people.crossed() if self.crossed else people).as_in(known, strict=False)
            found = Counter.of(y, people)(estimator.decide_all(X))
            total = [one + other for one, other in zip(total, found, strict=True)] if total else found
        return total


def is_streamed(asked: Asked) -> bool:
    """Return whether rows are read a piece at a time: of folders, if memory is given, and of files larger than it."""
    path = Path(asked.data)
    large = path.suffix.lower() == ".parquet" and path.is_file() and path.stat().st_size > as_bytes(_BUDGET)
    return path.is_dir() or asked.memory is not None or (large and asked.model in (None, "net"))


def open_stream(asked: Asked) -> StreamedData:
    """Return the rows asked for, after one pass over them."""
    if asked.model != "net":
        raise ValueError(
            f"Only `--model net` trains on rows that are not in memory: found {quote(asked.model)}. Use net, or one "
            "file that fits in memory, without `--memory`."
        )
    if not 0 < asked.test_fraction < 1:
        raise ValueError(f"`--test-fraction` must leave rows to test and to train on: found {asked.test_fraction}.")
    rows = stream(
        *(asked.data, str(asked.target), asked.favorable, asked.sensitive, asked.drop),
        memory=asked.memory or _BUDGET,
        test_fraction=asked.test_fraction,
        seed=asked.seed,
    )
    if not len(rows.scan.test):
        raise ValueError(f"`--test-fraction` must leave rows to test on: found none in {asked.test_fraction} of them.")
    return StreamedData(name_of_path(asked.data), asked.crossed, rows)


def name_of_path(path: str) -> str:
    """Return how the data in a file or folder is called."""
    return Path(path).resolve().name if Path(path).is_dir() else Path(path).stem
