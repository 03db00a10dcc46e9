"""The options of `mamofair train` as plain values that a checkpoint can hold."""

import shlex
from dataclasses import asdict, dataclass, fields
from typing import Any

from mamofair.tables.file_format import FileFormat, Reading

__all__ = ["TrainOptions", "one_or_several"]


def one_or_several(values: list[str] | None) -> str | tuple[str, ...] | None:
    """Return a single value as it is, several as a tuple, and None for none.

    >>> one_or_several(["yes"]), one_or_several(["yes", "later"])
    ('yes', ('yes', 'later'))
    """
    if not values:
        return None
    return values[0] if len(values) == 1 else tuple(values)


@dataclass(frozen=True)
class TrainOptions:
    """The options of `mamofair train`, under the names they have there."""

    data: str
    target: str | None = None
    favorable: str | tuple[str, ...] | None = None
    sensitive: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    weight: str | None = None
    test: str | None = None
    time: str | None = None
    unit: str | None = None
    notion: tuple[str, ...] = ("demographic_parity",)
    crossed: bool = False
    performance: str = "error"
    cost: str | None = None
    strata: str | None = None
    within: float | None = None
    fairest_within: float | None = None
    confidence: float | None = None
    margin: float = 1.0
    select_rate: str | None = None
    min_group: int = 30
    model: str = "auto"
    effort: str = "balanced"
    epochs: int | None = None
    test_fraction: float = 0.25
    validation_fraction: float = 0.25
    calibration_fraction: float | str = 0.0
    unlabelled: str | None = None
    limit: bool = True
    arbitrariness: bool = False
    device: str = "cpu"
    memory: str | None = None
    dask: str | None = None
    seed: int = 0
    sep: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    missing: tuple[str, ...] = ()
    reading: Reading = "strict"
    sheet: str | None = None
    header: int | None = None
    exclude_label: tuple[str, ...] = ()

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "TrainOptions":
        """Return the options that `to_json` wrote; what began before there was a `reading` ends as it began."""
        options: dict[str, Any] = {n: tuple(value) if isinstance(value, list) else value for n, value in values.items()}
        return cls(**{"reading": "typed"} | options)

    @property
    def file_format(self) -> FileFormat:
        """How the tables are written, and which of their rows are left out."""
        excluded = (self.target, self.exclude_label) if self.exclude_label and self.target is not None else None
        return FileFormat(
            *(self.sep, self.decimal, self.encoding, self.missing or None, self.reading),
            sheet=self.sheet,
            header=self.header,
            excluded=excluded,
        )

    @property
    def reads(self) -> dict[str, Any] | None:
        """How targets, groups, units and strata were read, as a run records it; None as before 0.3."""
        missing = self.file_format.missing
        reads = {"roles": "text", "missing": None if missing is None else list(missing)}
        return None if self.reading == "typed" else reads

    def to_json(self) -> dict[str, Any]:
        """Return the options as plain JSON."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}

    def command(self, out: str) -> str:
        """Return the command line with these options.

        >>> TrainOptions("adult", sensitive=("sex", "race"), within=0.05, limit=False).command("runs/adult")
        'mamofair train adult --sensitive sex --sensitive race --within 0.05 --no-limit --out runs/adult'
        """
        return shlex.join(["mamofair", "train", self.data, *self.arguments(), "--out", out])

    def arguments(self) -> list[str]:
        """Return the command-line arguments of all options that differ from their defaults."""
        arguments = []
        for option in fields(self)[1:]:
            value = getattr(self, option.name)
            if value == option.default or option.name == "reading":  # which is none
                continue
            name = f"--{'no-' if value is False else ''}{option.name.replace('_', '-')}"
            values = value if isinstance(value, tuple) else (value,)
            arguments += [name] if isinstance(value, bool) else [word for one in values for word in (name, str(one))]
        return arguments
