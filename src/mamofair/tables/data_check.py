"""What a table contains, and what to look at before training on it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import pandas as pd

from mamofair._html import html_table
from mamofair._messages import cut
from mamofair.selection import Support
from mamofair.tables.labels import quote_spaces

__all__ = ["ColumnUse", "DataCheck", "Finding", "GroupCounts", "Telltale", "ValueCounts"]

_SHOWN = 6  # groups or values in a line of text
_DETAIL = 200  # characters of a detail in a table of text


@dataclass(frozen=True)
class Finding:
    """Something to look at; a finding about rows has no column."""

    column: str
    finding: str
    detail: str


@dataclass(frozen=True)
class ColumnUse:
    """What a column is used for, and how it is read.

    `role` is "target", "sensitive", "feature", "unit", "left out" or "dropped", and `detail` says why it is left out.
    """

    column: str
    role: str
    read_as: str
    missing: int
    detail: str = ""


@dataclass(frozen=True)
class ValueCounts:
    """The values of the target with their rows, most frequent first, and the favorable one, if it is known."""

    column: str
    values: Mapping[str, int]
    missing: int
    favorable: str | None
    favorable_values: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the counts as plain JSON."""
        return asdict(self) | {"favorable_values": list(self.favorable_values)}


@dataclass(frozen=True)
class GroupCounts:
    """The groups of a sensitive attribute with their rows, the rows whose group is unknown, and the small groups.

    `units` has the units of each group, such as persons with several rows, where a column names them.
    """

    attribute: str
    groups: Mapping[str, int]
    unknown: int
    small: tuple[str, ...]
    units: Mapping[str, int] | None = None

    def __str__(self) -> str:
        units = {} if self.units is None else {group: f" ({count:,} units)" for group, count in self.units.items()}
        names = {group: "'unknown'" if group == "unknown" else quote_spaces(group) for group in self.groups}
        smallest = sorted(self.groups.items(), key=lambda item: item[1])
        counts = {names[group]: f"{count:,}{units.get(group, '')}" for group, count in smallest}
        return f"Groups of {self.attribute}: {_list(counts | {'unknown': f'{self.unknown:,}'})}."


@dataclass(frozen=True)
class Telltale:
    """How well one feature alone predicts the target or an attribute; chance is 1 / k for k values."""

    column: str
    tells: str
    balanced_accuracy: float
    chance: float

    @property
    def skill(self) -> float:
        """The balanced accuracy on a scale from 0, chance, to 1, always right."""
        return (self.balanced_accuracy - self.chance) / (1 - self.chance)


@dataclass(frozen=True, repr=False)
class DataCheck:
    """The check of a table, as `mamofair.tables.check` returns it; nothing in the table was changed.

    Parameters
    ----------
    name : str
        The name of the file, or "the frame".
    rows : int
        The number of rows.
    uses : tuple of ColumnUse
        What each column is used for.
    findings : tuple of Finding
        What to look at.
    target : ValueCounts or None
        The class balance.
    attributes : tuple of GroupCounts
        The groups of each sensitive attribute.
    telltales : tuple of Telltale
        For the target and each attribute, the features that predict it best, best first.
    sampled : int or None
        The number of random rows behind the telltales, if not all.
    supports : tuple of Support
        What groups are large enough for, if a limit was given.

    Examples
    --------
    >>> from mamofair.tables import check
    >>> people = pd.DataFrame({"pay": ["$1,200", "$800"] * 50, "sex": ["f", "f", "m", "m"] * 25, "hired": [0, 1] * 50})
    >>> result = check(people, target="hired", favorable=1, sensitive_features="sex")
    >>> result.rows, [(use.column, use.role) for use in result.uses]
    (100, [('pay', 'feature'), ('sex', 'sensitive'), ('hired', 'target')])
    """

    name: str
    rows: int
    uses: tuple[ColumnUse, ...]
    findings: tuple[Finding, ...]
    target: ValueCounts | None = None
    attributes: tuple[GroupCounts, ...] = ()
    telltales: tuple[Telltale, ...] = ()
    sampled: int | None = None
    supports: tuple[Support, ...] = ()

    def frame(self) -> pd.DataFrame:
        """Return one row per finding: `column`, `finding` and `detail`."""
        return pd.DataFrame([asdict(one) for one in self.findings], columns=["column", "finding", "detail"], dtype=str)

    def columns(self) -> pd.DataFrame:
        """Return one row per column: `column`, `role`, `read_as`, `missing` and `detail`, why it is left out."""
        return pd.DataFrame([asdict(one) for one in self.uses])

    def to_json(self) -> dict[str, Any]:
        """Return the check as plain JSON."""
        return {
            "rows": self.rows,
            "columns": [asdict(one) for one in self.uses],
            "findings": [asdict(one) for one in self.findings],
            "target": None if self.target is None else self.target.to_json(),
            "attributes": [asdict(one) | {"small": list(one.small)} for one in self.attributes],
            "telltales": [asdict(one) for one in self.telltales],
            "sampled": self.sampled,
            "supports": [asdict(one) for one in self.supports],
        }

    def __str__(self) -> str:
        return "\n".join([*self._sentences(), *_text_table(self.frame())])

    def __repr__(self) -> str:
        return f"DataCheck({self.name}: {self.rows:,} rows, {len(self.uses)} columns, {len(self.findings)} findings)"

    def _repr_html_(self) -> str:
        return html_table(" ".join(self._sentences()), self.frame().columns, self.frame().itertuples(index=False))

    def _sentences(self) -> list[str]:
        features = [use.read_as for use in self.uses if use.role == "feature"]
        kinds = ", ".join(f"{features.count(kind)} {kind}" for kind in dict.fromkeys(features))
        sentences = [
            f"{self.name}: {self.rows:,} rows; {len(features)} of {len(self.uses)} columns are features"
            + (f" ({kinds})." if kinds else ".")
        ]
        if self.target is not None:
            shares = {
                quote_spaces(value)
                + (" (favorable)" if value in self.target.favorable_values else ""): f"{count / self.rows:.1%}"
                for value, count in self.target.values.items()
            }
            sentences.append(f"Target {self.target.column}: {_list(shares)}.")
        sentences += map(str, self.attributes)
        sentences += map(str, self.supports)
        if self.sampled is not None:
            sentences.append(f"How well single columns predict was measured on {self.sampled:,} random rows.")
        return sentences if self.findings else [*sentences, "Nothing else to look at."]


def _list(values: Mapping[str, str]) -> str:
    colon = ":" if any(name[-1:].isdigit() for name in values) else ""  # else "30 to under 50 979"
    shown = [f"{cut(name)}{colon} {value}" for name, value in values.items()]
    return ", ".join(shown if len(shown) <= _SHOWN + 1 else [*shown[:_SHOWN], f"… ({len(shown)} in all)"])


def _text_table(frame: pd.DataFrame) -> list[str]:
    """Return the lines of a table, its columns aligned."""
    if frame.empty:
        return []
    cells = [
        list(frame),
        *([cut(name, 30), finding, cut(detail, _DETAIL)] for name, finding, detail in frame.to_numpy()),
    ]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return ["  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip() for line in cells]
