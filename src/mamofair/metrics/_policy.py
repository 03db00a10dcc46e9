"""A policy: the attributes, notions, limits and confidence that decisions must meet; read from a TOML file."""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from numbers import Real
from pathlib import Path
from typing import Any

from mamofair._messages import as_share, quote, quote_some
from mamofair.notions import Notion, as_notion, column, require_gap

__all__ = ["MAX_UNKNOWN", "Policy", "read_policy"]


MAX_UNKNOWN = 0.05  # of the rows


@dataclass(frozen=True)
class Policy:
    """Requirements on decisions.

    Attributes
    ----------
    attributes
        The sensitive attributes, each of which must be assessed.
    notions
        The notions, each of which is required for each attribute.
    limit
        The largest acceptable gap, for gaps that `limits` does not name.
    limits
        Other limits, by notion or by gap: `{"equal_opportunity": 0.1, "demographic_parity[age]": 0.08}`.
    confidence
        The confidence level of the intervals that limits are judged by, each on its own.
    min_rows
        The smallest number of rows of a group under a rate's condition. Smaller groups cannot be assessed.
    max_unknown
        The largest share of rows whose group of an attribute may be unknown. With more, nothing is known to be kept.
    exempt
        What need not be assessed. A group, such as "race=other", is left out of the gaps. A gap or notion, such as
        "equal_opportunity", need not be assessed, but counts if it can be.

    Examples
    --------
    >>> policy = Policy(("sex",), (as_notion("dp"), as_notion("eopp")), limit=0.05, limits={"equal_opportunity": 0.1})
    >>> policy.limit_of(as_notion("eopp"), "sex")
    0.1
    """

    attributes: tuple[str, ...]
    notions: tuple[Notion, ...]
    limit: float | None = None
    limits: Mapping[str, float] = field(default_factory=dict)
    confidence: float = 0.95
    min_rows: int = 30
    max_unknown: float = MAX_UNKNOWN
    exempt: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name, limit in {"limit": self.limit, **self.limits}.items():
            if limit is not None:
                require_gap(limit, f"`{name}` of the policy")
        if not _is_number(self.confidence) or not 0 < self.confidence < 1:
            raise ValueError(
                f"`confidence` of the policy must be between 0 and 1: found {quote(self.confidence)}."
                f"{as_share(self.confidence)}"
            )
        if not _is_number(self.min_rows) or self.min_rows != int(self.min_rows) or self.min_rows < 1:
            raise ValueError(
                f"`min_rows` of the policy must be a whole number, 1 or more: found {quote(self.min_rows)}."
            )
        object.__setattr__(self, "min_rows", int(self.min_rows))  # TOML's 1e3 is a float
        if not _is_number(self.max_unknown) or not 0 <= self.max_unknown <= 1:
            raise ValueError(
                f"`max_unknown` of the policy must be a share of rows from 0 to 1: found {quote(self.max_unknown)}."
                f"{as_share(self.max_unknown)}"
            )
        self._check_names()

    def _check_names(self) -> None:
        """Raise a `ValueError` for a limit or an exemption of something that the policy does not have."""
        for group in (one for one in self.exempt if "=" in one):
            if group.partition("=")[0] not in self.attributes:
                raise ValueError(
                    f"The policy exempts {quote(group)}, but has no attribute {quote(group.partition('=')[0])}: it has "
                    f"{quote_some(self.attributes)}."
                )
        gaps = {
            column(notion, attribute): (notion, attribute) for notion in self.notions for attribute in self.attributes
        }
        for name in (*self.limits, *(one for one in self.exempt if "=" not in one)):
            if name not in gaps and name not in {notion.name for notion in self.notions}:
                known = quote_some([*(notion.name for notion in self.notions), *gaps])
                raise ValueError(f"The policy has no notion or gap {quote(name)}: it has {known}.")
        for notion, attribute in gaps.values():
            self.limit_of(notion, attribute)

    def limit_of(self, notion: Notion, attribute: str) -> float:
        """Return the limit of a gap: its own, that of its notion, or the general one."""
        for name in (column(notion, attribute), notion.name):
            if name in self.limits:
                return float(self.limits[name])
        if self.limit is None:
            raise ValueError(f"The policy must have a limit for {column(notion, attribute)}: add `limit = 0.05`.")
        return float(self.limit)

    def exempts_gap(self, notion: Notion, attribute: str) -> bool:
        """Return whether a gap need not be assessed."""
        return notion.name in self.exempt or column(notion, attribute) in self.exempt

    def exempts_group(self, attribute: str, group: object) -> bool:
        """Return whether a group is left out of the gaps."""
        return f"{attribute}={group}" in self.exempt


def read_policy(path: str | os.PathLike[str]) -> Policy:
    r"""Return the policy in a TOML file; a mistake in it raises a one-line error.

    The file has the names of `Policy`: `attributes`, `notions` and `limit` or a table `[limits]`; the rest is optional.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "policy.toml"
    ...     _ = path.write_text('attributes = ["sex"]\nnotions = ["demographic_parity"]\nlimit = 0.05')
    ...     read_policy(path).limit
    0.05
    """
    name = Path(path).name
    try:
        values = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{quote(name)} must be a TOML file: {error}.") from None
    known = [one.name for one in fields(Policy)]
    for key in values:
        if key not in known:
            near = get_close_matches(key, known, n=1)
            hint = f"Did you mean {near[0]}?" if near else f"There are {', '.join(known)}."
            raise ValueError(f"A policy has no {quote(key)}. {hint}")
    names = {key: _read_names(values.get(key, []), key) for key in ("attributes", "notions", "exempt")}
    for key in ("attributes", "notions"):
        if not names[key]:
            raise ValueError(f'{quote(name)} must say which {key} are required: add `{key} = ["{_EXAMPLES[key]}"]`.')
    limits = values.get("limits", {})
    if not isinstance(limits, dict):
        raise ValueError(f"`limits` of the policy must be a table: found {quote(limits)}.")
    strata = [one for one in names["notions"] if as_notion(one).over]
    if strata:
        raise ValueError(f"A policy cannot require {quote(strata[0])}: notions within strata need `mamofair audit`.")
    return Policy(
        attributes=names["attributes"],
        notions=tuple(as_notion(one) for one in names["notions"]),
        exempt=tuple(one if "=" in one else _full_name(one) for one in names["exempt"]),
        limits={_full_name(key): limit for key, limit in limits.items()},
        **{key: values[key] for key in ("limit", "confidence", "min_rows", "max_unknown") if key in values},
    )


_EXAMPLES = {"attributes": "sex", "notions": "demographic_parity"}


def _full_name(name: str) -> str:
    """Return a notion or gap under the notion's own name: "dp[sex]" is "demographic_parity[sex]"."""
    notion, bracket, rest = name.partition("[")
    return as_notion(notion).name + bracket + rest


def _read_names(value: Any, key: str) -> tuple[str, ...]:
    given = [value] if isinstance(value, str) else value
    if not isinstance(given, list) or not all(isinstance(one, str) for one in given):
        raise ValueError(f'`{key}` of the policy must be a list of names, such as ["sex"]: found {quote(value)}.')
    return tuple(given)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)
