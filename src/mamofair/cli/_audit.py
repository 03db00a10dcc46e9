"""`mamofair audit`: how the decisions of any model treat groups."""

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mamofair.cli._audited_table import audit_table, read_audited_table, read_periods
from mamofair.cli._checks import require_strata, require_writable
from mamofair.cli._console import print_note, warnings_as_notes
from mamofair.cli._counted_table import open_audited_table
from mamofair.cli._gate import Gate, MaxUnknown, PolicyFile, leave_by_gate, open_gate
from mamofair.cli._options import (
    AsJson,
    Decimal,
    Encoding,
    ExcludeLabel,
    Favorable,
    Header,
    Missing,
    MistakeCost,
    Performance,
    Separator,
    Sheet,
    Strata,
    UnusedSeed,
    Weight,
)
from mamofair.tables.file_format import FileFormat

if TYPE_CHECKING:
    import pandas as pd

    from mamofair.metrics import Audit

__all__ = ["audit"]


def audit(
    table: Annotated[
        Path,
        typer.Argument(
            metavar="TABLE",
            help="A CSV, Parquet or Excel file, or a folder of Parquet files: predictions and, if known, true labels.",
        ),
    ],
    prediction: Annotated[str, typer.Option(help="The column of predictions, or of scores with `--threshold`.")],
    sensitive: Annotated[list[str], typer.Option(help="A sensitive attribute; `age:25,60` bins a number. Repeatable.")],
    target: Annotated[
        str | None,
        typer.Option(help="The column of true labels. Selection rates, their gaps and ratios do not need it."),
    ] = None,
    notion: Annotated[
        list[str] | None,
        typer.Option(help="A fairness notion, such as equalized_odds; five notions by default. Repeatable."),
    ] = None,
    favorable: Favorable = None,
    exclude_label: ExcludeLabel = None,
    limit: Annotated[
        float | None,
        typer.Option(help="The largest acceptable gap, 0.05 by default; for a ratio, 0.2 means at least 0.8."),
    ] = None,
    confidence: Annotated[
        float | None, typer.Option(help="Confidence level of each interval; 0.95 by default.")
    ] = None,
    threshold: Annotated[float | None, typer.Option(help="Scores above this count as favorable decisions.")] = None,
    crossed: Annotated[bool, typer.Option(help="Also compare the intersections of all attributes.")] = False,
    weight: Weight = None,
    unit: Annotated[
        str | None,
        typer.Option(
            help="A column that says which rows belong together, such as those of one person: intervals count units, "
            "not rows, and scores have no tables."
        ),
    ] = None,
    strata: Strata = None,
    min_group: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Leave groups with fewer rows, or units, out of the gaps and ratios; they are listed. 30 by default, "
            "or what the policy says.",
        ),
    ] = None,
    groups: Annotated[bool, typer.Option("--groups", help="Also show the rates of each group.")] = False,
    by: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="Also show the gaps over a column's values; `date:month` (quarter, year) cuts dates."
        ),
    ] = None,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write a page that opens in any browser, even offline.")
    ] = None,
    gate: Gate = False,
    policy: PolicyFile = None,
    max_unknown: MaxUnknown = None,
    sep: Separator = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    sheet: Sheet = None,
    header: Header = None,
    missing: Missing = None,
    performance: Performance = "error",
    cost: MistakeCost = None,
    seed: UnusedSeed = 0,
    as_json: AsJson = False,
) -> None:
    """Audit the decisions of any model: gaps between groups, confidence intervals and verdicts.

    A verdict is "inconclusive" if there are too few rows to tell. Scores
    (with `--threshold`) also get their AUC, their calibration and the
    threshold's place among them, by group. Without `--target`, an audit
    shows what needs no true labels. The exit code is 0 whatever the
    verdicts, unless `--gate` or `--policy` is given.

    Example: mamofair audit decided.csv --target approved --prediction
    prediction --favorable yes --sensitive gender --notion
    demographic_parity --limit 0.05
    """
    from mamofair.cli._performance import read_performance
    from mamofair.cli._policy_audit import explain_differences, option_terms, policy_terms
    from mamofair.metrics import assess_audit

    required = open_gate(gate, policy, max_unknown=max_unknown)
    judges = gate or required is not None  # else words such as NA are values, with a note
    file_format = FileFormat(
        *(sep, decimal, encoding, missing), reading="strict" if judges else "lenient", sheet=sheet, header=header
    )
    terms = option_terms(required, notion or None, limit, confidence, max_unknown)
    require_strata(notion or [] if required is None else [one.name for one in required.notions], strata)
    if html is not None:
        require_writable(html, "--html", file=True)
    with warnings_as_notes():
        file_format = _exclude(file_format, target, exclude_label)
        rowwise = {"--threshold": threshold, "--weight": weight, "--unit": unit, "--exclude-label": exclude_label}
        row_option = next((option for option, value in rowwise.items() if value is not None), None)
        source = open_audited_table(table, [target, prediction, strata], sensitive, by, file_format, row_option)
        _require_excluded(table, file_format)
        read = read_audited_table(source, target, prediction, favorable, sensitive, decided=threshold is None)
        periods = None if by is None else read_periods(source, by)
        if required is not None:
            terms = policy_terms(required, map(str, read.sensitive), has_labels=read.truth is not None)
        result = audit_table(
            *(source, read, periods, strata, weight, unit),
            notions=terms.notions,
            confidence=terms.confidence,
            limit=terms.limit,
            crossed=crossed,
            threshold=threshold,
            performance=read_performance(performance, cost),
            min_group=min_group or (30 if required is None else required.min_rows),
        )
    over = None if periods is None else result.over(None if result.periods is not None else periods)
    if periods is not None and periods.isna().any():
        left_out = result.decisions.count_rows(periods.isna().to_numpy())
        print_note(f"{left_out:,} rows without a value of {periods.name} are left out of its table.")
    if html is not None:
        from mamofair.report import write_audit

        write_audit(result, html, title=table.name, over=over)
    assessment = assess_audit(result, required, max_unknown=terms.max_unknown) if judges else None
    for remark in explain_differences(terms, result, assessment):
        print_note(remark)
    if as_json:
        document = {"table": str(table), "limit": terms.limit} | _to_json(result)
        document |= {} if assessment is None else {"gate": assessment.to_json()}
        document |= {} if over is None else {"by": by, "over": _records(over)}
        typer.echo(json.dumps(document | ({} if html is None else {"html": str(html)})))
    else:
        _print(result, groups, by, over)
        if html is not None:
            typer.echo(f"\nPage: {html}")
    leave_by_gate(assessment)


def _print(result: "Audit", groups: bool, by: str | None, over: "pd.DataFrame | None") -> None:
    """Print an audit, the rates of groups if asked for, and the gaps over the values of a column."""
    typer.echo(str(result))
    if groups:
        words = {str(rate): result.describe_rate(rate) for rate in result.rates}
        typer.echo(f"\nRates of each group:\n{_as_text(result.groups().replace({'meaning': words}))}")
    if over is not None:
        typer.echo(f"\nGaps by {by}, each interval by itself:\n{_as_text(over)}")


def _as_text(frame: "pd.DataFrame") -> str:
    return frame.to_string(index=False, float_format="{:.3f}".format, na_rep="undefined")


def _to_json(result: "Audit") -> dict[str, Any]:
    """Return an audit as plain JSON, with null for what is undefined."""
    frames = {"gaps": result.frame(), "ratios": result.ratios(), "groups": result.groups()}
    if result.scores is not None and result.has_truth:
        frames |= {"auc": result.auc(), "calibration": result.calibration()}
        frames |= {"calibration_error": result.calibration_error()}
    if result.scores is not None:
        frames |= {"around_threshold": result.around_threshold()}
    return {
        "rows": result.rows,
        "units": result.decisions.unit_count,
        "favorable": result.favorable,
        "has_truth": result.has_truth,
        "error": result.error if result.has_truth else None,
        "performance": {"name": str(result.performance), "value": result.cost if result.has_truth else None},
        "selection_rate": result.tally.positive_share,
        "confidence": result.confidence,
        "threshold": result.threshold,
        "small_groups": {
            name: {str(group): rows for group, rows in sizes.items()} for name, sizes in result.small_groups.items()
        },
    } | {name: _records(frame) for name, frame in frames.items()}


def _records(frame: "pd.DataFrame") -> list[Any]:
    return [*frame.astype(object).where(frame.notna(), None).to_dict("records")]


def _exclude(file_format: FileFormat, target: str | None, labels: list[str] | None) -> FileFormat:
    """Return the format of a table without the rows that have one of these labels."""
    if not labels:
        return file_format
    if target is None:
        raise ValueError("`--exclude-label` needs the column of true labels: add `--target`, or leave it out.")
    return replace(file_format, excluded=(target, tuple(labels)))


def _require_excluded(table: Path, file_format: FileFormat) -> None:
    """Raise an error for labels to exclude that the table does not have."""
    if file_format.excluded is not None:
        from mamofair.tables import open_source
        from mamofair.tables.excluded import require_labels

        require_labels(open_source(table, replace(file_format, excluded=None)), *file_format.excluded)
