"""`mamofair audit`: what decisions do to groups, whoever made them."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mamofair._messages import quote
from mamofair.cli._notes import noted_warnings
from mamofair.cli._options import AsJson, IdleSeed

if TYPE_CHECKING:
    import pandas as pd

    from mamofair.metrics import Audit


def audit(
    table: Annotated[Path, typer.Argument(metavar="TABLE", help="A CSV or Parquet file with labels and predictions.")],
    target: Annotated[str, typer.Option(help="The column of what was true.")],
    prediction: Annotated[str, typer.Option(help="The column of what was decided, or of scores: see `--threshold`.")],
    sensitive: Annotated[list[str], typer.Option(help="A column that says who a person is; bins: age:25,60. Repeat.")],
    notion: Annotated[
        list[str] | None,
        typer.Option(help="What must be equal, such as equalized_odds; five notions by default. Repeat."),
    ] = None,
    favorable: Annotated[
        str | None,
        typer.Option(
            help="The label that counts as the favorable outcome; needed unless labels are 0/1, −1/1 or boolean."
        ),
    ] = None,
    limit: Annotated[float, typer.Option(help="The largest gap that is acceptable to you.")] = 0.05,
    confidence: Annotated[float, typer.Option(help="Of each interval.")] = 0.95,
    threshold: Annotated[float | None, typer.Option(help="The score above which a decision is favorable.")] = None,
    crossed: Annotated[bool, typer.Option(help="Also compare the crossing of all attributes.")] = False,
    groups: Annotated[bool, typer.Option("--groups", help="Also show the rates of each group.")] = False,
    seed: IdleSeed = 0,
    as_json: AsJson = False,
) -> None:
    """Audit the decisions of any model: gaps between groups, their intervals, and verdicts.

    The verdict is "inconclusive" where the rows are too few to tell. The exit code is 0 whatever is found.

    Example: mamofair audit decided.csv --target approved --prediction prediction --favorable yes --sensitive gender
    --notion demographic_parity --limit 0.05
    """
    from mamofair.metrics import DEFAULT_NOTIONS
    from mamofair.metrics import audit as audited

    with noted_warnings():
        columns, people, label = _read(table, target, prediction, favorable, sensitive)
        found = audited(
            columns[target],
            columns[prediction],
            sensitive_features=people,
            notions=notion or DEFAULT_NOTIONS,
            favorable=label,
            confidence=confidence,
            limit=limit,
            crossed=crossed,
            threshold=threshold,
        )
    if as_json:
        typer.echo(json.dumps({"table": str(table), "limit": limit} | _plain(found)))
        return
    typer.echo(str(found))
    if groups:
        text = found.groups().to_string(index=False, float_format="{:.3f}".format, na_rep="undefined")
        typer.echo(f"\nRates of each group.\n{text}")


def _read(
    path: Path, target: str, prediction: str, favorable: str | None, sensitive: list[str]
) -> tuple["pd.DataFrame", "pd.DataFrame", Any]:
    """Return labels and predictions, the sensitive columns, and the favorable label."""
    from mamofair.tables import open_source, parse_attribute, read_features, read_table

    source = open_source(path)
    source.check([target, prediction])
    if target == prediction:
        raise ValueError(f"`--target` and `--prediction` must be two columns: found {quote(target)} for both.")
    needed = {target, *(parse_attribute(one, source.names)[0] for one in sensitive)}
    # The other columns play no part, and a table must have features: the sensitive ones stand in.
    others = [name for name in source.names if name not in needed]
    read = read_table(path, target, favorable, sensitive, others, keep_sensitive=True)
    return read_features(path, [target, prediction]), read.sensitive, read.labels[1]


def _plain(found: "Audit") -> dict[str, Any]:
    """Return an audit as plain JSON; what is undefined is null."""
    frames = {"gaps": found.frame(), "ratios": found.ratios(), "groups": found.groups()}
    return {
        "rows": len(found.people),
        "favorable": found.favorable,
        "error": found.tally.error,
        "confidence": found.confidence,
        "threshold": found.threshold,
    } | {name: frame.astype(object).where(frame.notna(), None).to_dict("records") for name, frame in frames.items()}
