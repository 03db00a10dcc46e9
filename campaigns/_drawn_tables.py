"""Tables of a few dozen people, drawn at random: columns of plain values, and what their groups are called."""

from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from random import Random
from typing import Any

#: Words that may mean unknown, as programs write them; Excel turns the text #N/A into an error.
WORDS = ("NA", "None", "null", "n/a", "NaN")

_GROUPS: dict[str, tuple[Any, ...]] = {
    "text": ("F", "M", "é b", "x,y", "Ω", "a;b"),
    "codes": ("01", "1", "1.0", "001", "2024.1", "2024.10"),
    "int": (1, 2, 3, 10, -7),
    "float": (0.5, 2.0, -1.25, 1e-7),
    "bool": (True, False),
    "date": (date(2024, 3, 31), date(2023, 12, 1), date(1999, 1, 2)),
}
_LABELS: tuple[tuple[str, tuple[Any, Any]], ...] = (
    ("text", ("no", "yes")),
    ("int", (0, 1)),
    ("int", (-1, 1)),
    ("bool", (False, True)),
)


@dataclass(frozen=True)
class Column:
    """Values of one type, None where one is missing; `kind` is text, int, long, float, bool or date."""

    kind: str
    values: tuple[Any, ...]

    def names(self, unknown: tuple[str, ...]) -> list[str | None]:
        """Return what groups, units and ids are called; words that mean unknown are missing."""
        names = [None if value is None else name_of(value) for value in self.values]
        return [None if name is not None and name.strip() in unknown else name for name in names]


@dataclass(frozen=True)
class DrawnTable:
    """Columns by name, the sensitive ones with the edges of their bins, and what was said about words such as NA."""

    columns: dict[str, Column]
    edges: dict[str, tuple[int, ...]]
    favorable: Any
    missing: tuple[str, ...] | None
    has_words: bool

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self.columns["hired"].values)

    @property
    def sensitive(self) -> list[str]:
        """The sensitive columns as the command line has them."""
        return [f"{name}:{','.join(map(str, ends))}" if ends else name for name, ends in self.edges.items()]

    def groups(self) -> dict[str, list[str | None]]:
        """Return the group of each row, from a slow loop that shares no code with the library."""
        unknown = self.missing or ()
        return {
            name: [_bin(value, ends) for value in self.columns[name].values]
            if ends
            else self.columns[name].names(unknown)
            for name, ends in self.edges.items()
        }


def name_of(value: Any) -> str:
    """Return how an id or a group is written: text as it is, whole numbers without a point, dates as in ISO 8601."""
    if isinstance(value, float) and value == int(value):
        return str(int(value))
    return value.isoformat() if isinstance(value, date) else str(value)


def _bin(value: Any, edges: tuple[int, ...]) -> str | None:
    if value is None:
        return None
    if value < edges[0]:
        return f"under {edges[0]}"
    for low, high in pairwise(edges):
        if low <= value < high:
            return f"{low} to under {high}"
    return f"{edges[-1]} and over"


def draw_table(random: Random) -> DrawnTable:
    """Draw a table."""
    rows = random.choice([24, 40, 60, 90])
    kind, (bad, good) = random.choice(_LABELS)
    labels = [bad, good, *(random.choice([bad, good]) for _ in range(rows - 2))]
    random.shuffle(labels)
    columns = {
        "hired": Column(kind, tuple(labels)),
        "decided": Column(kind, tuple(random.choice([bad, good]) if random.random() < 0.3 else one for one in labels)),
    }
    edges: dict[str, tuple[int, ...]] = {}
    has_words = False
    for name in random.choice([["sex"], ["sex", "race"]]):
        columns[name], worded = _draw_groups(random, rows)
        edges[name], has_words = (), has_words or worded
    if random.random() < 0.4:
        edges["age"] = random.choice([(30,), (30, 50)])
        whole = random.random() < 0.5
        ages = [random.randint(18, 80) if whole else random.randint(36, 160) / 2 for _ in range(rows - 2)]
        columns["age"] = Column("int" if whole else "float", _with_gaps(random, [*ages, 20 if whole else 20.5, 60]))
    columns |= {f"f{place}": _draw_feature(random, rows, place) for place in range(random.choice([2, 3, 5]))}
    columns["who"] = _draw_ids(random, rows)
    missing = random.choice([None, (), ("NA",), WORDS]) if has_words else random.choice([None, None, ("NA",)])
    return DrawnTable(columns, edges, good if kind == "text" else None, missing, has_words)


def _draw_groups(random: Random, rows: int) -> tuple[Column, bool]:
    """Return a sensitive column, and whether it has words that may mean unknown."""
    kind = random.choice(list(_GROUPS))
    values = random.sample(_GROUPS[kind], random.randint(2, min(4, len(_GROUPS[kind]))))
    worded = kind == "text" and random.random() < 0.6
    if worded:
        values.append(random.choice(WORDS))
    drawn = [values[0], values[1], *random.choices(values, k=rows - 3), values[-1]]
    random.shuffle(drawn)
    return Column("text" if kind == "codes" else kind, _with_gaps(random, drawn, keep=set(map(str, values)))), worded


def _draw_feature(random: Random, rows: int, place: int) -> Column:
    """Return a feature; the first is a number, as there must be one that every reader can use."""
    kind = random.choice(["int", "text", "bool", "date", "money", "free text"]) if place else "float"
    draws: dict[str, Any] = {
        "float": lambda: random.choice([random.gauss(0, 10), round(random.gauss(0, 10), 3) + 0.0, 2.0]),
        "int": lambda: random.randint(-50, 1000),
        "text": lambda: random.choice(["cook", "nurse", "x,y", "Zürich", 'the "boss"', "tab\tbed"]),
        "bool": lambda: random.random() < 0.5,
        "date": lambda: date(2024, random.randint(1, 12), random.randint(1, 28)),
        "money": lambda: f"${random.randint(1, 99)},{random.randint(0, 999):03}",
        "free text": lambda: "note " + "".join(random.choices("abcdefgh", k=8)),
    }
    values = [draws[kind]() for _ in range(rows)]
    return Column(
        "text" if kind in ("money", "free text") else kind,
        _with_gaps(random, values) if kind != "bool" else tuple(values),
    )


def _draw_ids(random: Random, rows: int) -> Column:
    kind = random.choice(["long", "long text", "text", "int"])
    if kind == "text":
        return Column(
            "text", tuple(random.choice(["0001", "1", "1.0", "2024.1", "2024.10", "A-7"]) for _ in range(rows))
        )
    if kind == "int":
        return Column("int", tuple(random.randint(1, rows // 2) for _ in range(rows)))
    numbers = [10**19 + random.randint(0, rows) for _ in range(rows)]
    return Column("long", tuple(numbers)) if kind == "long" else Column("text", tuple(map(str, numbers)))


def _with_gaps(random: Random, values: list[Any], keep: set[str] = frozenset()) -> tuple[Any, ...]:
    """Return the values, some of them missing; each of those to keep is left once."""
    share = random.choice([0, 0, 0.1, 0.3])
    left = set(keep)
    drawn = []
    for value in values:
        is_first = str(value) in left
        left.discard(str(value))
        drawn.append(value if is_first or random.random() >= share else None)
    return tuple(drawn)
