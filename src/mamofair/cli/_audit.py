"""`mamofair audit`: how the decisions of any model treat groups."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mamofair._messages import quote
from mamofair.cli._console import warnings_as_notes
from mamofair.cli._options import AsJson, Strata, UnusedSeed

if TYPE_CHECKING:
    import pandas as pd

    from mamofair.metrics import Audit

__all__ = ["audit"]


def audit(
    table: Annotated[
        Path, typer.Argument(metavar="TABLE", help="A CSV or Parquet file with true labels and predictions.")
    ],
    target: Annotated[str, typer.Option(help="The column of true labels.")],
    prediction: Annotated[str, typer.Option(help="The column of predictions, or of scores with `--threshold`.")],
    sensitive: Annotated[list[str], typer.Option(help="A sensitive attribute; `age:25,60` bins a number. Repeatable.")],
    notion: Annotated[
        list[str] | None,
        typer.Option(help="A fairness notion, such as equalized_odds; five notions by default. Repeatable."),
    ] = None,
    favorable: Annotated[
        str | None,
        typer.Option(
            help="The target value that counts as the favorable outcome. Needed unless labels are 0/1, −1/1 or boolean."
        ),
    ] = None,
    limit: Annotated[
        float, typer.Option(help="The largest acceptable gap; of a ratio, 0.2 means at least 0.8.")
    ] = 0.05,
    confidence: Annotated[float, typer.Option(help="Confidence level of each interval.")] = 0.95,
    threshold: Annotated[float | None, typer.Option(help="Scores above this count as favorable decisions.")] = None,
    crossed: Annotated[bool, typer.Option(help="Also compare the intersections of all attributes.")] = False,
    strata: Strata = None,
    groups: Annotated[bool, typer.Option("--groups", help="Also show the rates of each group.")] = False,
    seed: UnusedSeed = 0,
    as_json: AsJson = False,
) -> None:
    """Audit the decisions of any model: gaps between groups, confidence intervals and verdicts.

    A verdict is "inconclusive" if there are too few rows to tell. Scores
    (with `--threshold`) also get their AUC, their calibration and the
    threshold's place among them, by group. The exit code is 0 whatever the
    verdicts.

    Example: mamofair audit decided.csv --target approved --prediction
    prediction --favorable yes --sensitive gender --notion
    demographic_parity --limit 0.05
    """
    from mamofair.metrics import DEFAULT_NOTIONS
    from mamofair.metrics import audit as measure
    from mamofair.tables import read_features

    with warnings_as_notes():
        columns, people, label = _read(table, target, prediction, favorable, sensitive)
        result = measure(
            columns[target],
            columns[prediction],
            sensitive_features=people,
            notions=notion or DEFAULT_NOTIONS,
            favorable=label,
            confidence=confidence,
            limit=limit,
            crossed=crossed,
            threshold=threshold,
            strata=None if strata is None else read_features(table, [strata]),
        )
    if as_json:
        typer.echo(json.dumps({"table": str(table), "limit": limit} | _to_json(result)))
        return
    typer.echo(str(result))
    if groups:
        text = result.groups().to_string(index=False, float_format="{:.3f}".format, na_rep="undefined")
        typer.echo(f"\nRates of each group:\n{text}")


def _read(
    path: Path, target: str, prediction: str, favorable: str | None, sensitive: list[str]
) -> tuple["pd.DataFrame", "pd.DataFrame", Any]:
    """Return true labels and predictions, the sensitive columns, and the favorable label."""
    from mamofair.tables import open_source, read_features, read_labels_and_groups

    open_source(path).check([target, prediction])
    if target == prediction:
        raise ValueError(f"`--target` and `--prediction` must be different columns: found {quote(target)} for both.")
    read = read_labels_and_groups(path, target, favorable, sensitive)
    return read_features(path, [target, prediction]), read.sensitive, read.labels[1]


def _to_json(result: "Audit") -> dict[str, Any]:
    """Return an audit as plain JSON, with null for what is undefined."""
    frames = {"gaps": result.frame(), "ratios": result.ratios(), "groups": result.groups()}
    if result.scores is not None:
        frames |= {"auc": result.auc(), "calibration": result.calibration()}
        frames |= {"calibration_error": result.calibration_error(), "around_threshold": result.around_threshold()}
    return {
        "rows": len(result.people),
        "favorable": result.favorable,
        "error": result.tally.error,
        "confidence": result.confidence,
        "threshold": result.threshold,
    } | {name: frame.astype(object).where(frame.notna(), None).to_dict("records") for name, frame in frames.items()}
