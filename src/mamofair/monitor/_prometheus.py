"""A monitor's answer in Prometheus' text format, version 0.0.4, for the textfile collector of a node exporter."""

from collections.abc import Iterator, Mapping

from mamofair.monitor._answer import WatchAnswer

__all__ = ["to_prometheus"]

Sample = tuple[Mapping[str, str], float]


def to_prometheus(answer: WatchAnswer) -> str:
    """Return an answer as Prometheus metrics, whose names begin with `mamofair_watch_`.

    >>> from mamofair.monitor import Monitor
    >>> print(to_prometheus(Monitor.of(0.05, attributes=["sex"]).answer).splitlines()[2])
    mamofair_watch_decisions_total 0
    """
    return "".join(f"{line}\n" for line in _lines(answer))


def _lines(answer: WatchAnswer) -> Iterator[str]:
    named = {gap.name: {"notion": gap.notion, "attribute": gap.attribute} for gap in answer.gaps}
    statuses = ("within so far", "exceeded", "not yet known")
    pairs = [
        (named[gap.name] | {"first": pair.groups[0], "second": pair.groups[1], "rate": pair.rate}, pair)
        for gap in answer.gaps
        for pair in gap.pairs
    ]
    yield from _metric("decisions_total", "counter", "Decisions counted so far.", [({}, answer.rows)])
    yield from _metric("labelled_total", "counter", "Decisions whose labels have arrived.", [({}, answer.labelled)])
    yield from _metric(
        "duplicates_total", "counter", "Rows whose id had already been counted.", [({}, answer.duplicates)]
    )
    yield from _metric("waiting", "gauge", "Decisions that wait for labels.", [({}, answer.waiting)])
    yield from _metric("exit_code", "gauge", "0 within, 3 exceeds, 4 inconclusive.", [({}, answer.exit_code)])
    yield from _metric(
        "status",
        "gauge",
        "1 for the current status of a gap.",
        [
            (named[gap.name] | {"status": status}, float(gap.status == status))
            for gap in answer.gaps
            for status in statuses
        ],
    )
    yield from _metric("limit", "gauge", "The largest acceptable gap.", [(named[g.name], g.limit) for g in answer.gaps])
    yield from _metric(
        "gap",
        "gauge",
        "The largest difference between two groups on average so far.",
        [(named[gap.name], gap.gap) for gap in answer.gaps if gap.gap is not None],
    )
    yield from _metric(
        "evidence",
        "gauge",
        "How close to an alarm it has been: 1 is an alarm.",
        [(labels, pair.evidence) for labels, pair in pairs],
    )
    yield from _metric(
        "drift",
        "gauge",
        "A share or a rate of a group that has drifted: its value since then minus what was expected.",
        [
            ({"kind": one.kind, "attribute": one.attribute, "group": one.group}, one.now - one.expected)
            for one in answer.drifts
            if one.now is not None
        ],
    )


def _metric(name: str, kind: str, meaning: str, samples: list[Sample]) -> Iterator[str]:
    yield f"# HELP mamofair_watch_{name} {meaning}"
    yield f"# TYPE mamofair_watch_{name} {kind}"
    for labels, value in samples:
        listed = ",".join(f'{key}="{_escape(text)}"' for key, text in labels.items())
        yield f"mamofair_watch_{name}{f'{{{listed}}}' if listed else ''} {value!r}"


def _escape(text: str) -> str:
    return text.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")
