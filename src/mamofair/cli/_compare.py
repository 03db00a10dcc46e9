"""`mamofair compare`: our estimators and other libraries on the same splits of the same rows."""

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mamofair._messages import PATH, quote
from mamofair.cli._checks import find_conditional, require_writable
from mamofair.cli._console import print_note, print_sentence, print_table, track_progress, warnings_as_notes
from mamofair.cli._options import (
    MAX_SEED,
    AsJson,
    Crossed,
    Decimal,
    Drop,
    Encoding,
    ExcludeLabel,
    Favorable,
    Header,
    Missing,
    Names,
    Notion,
    Quick,
    Sensitive,
    Separator,
    Sheet,
    Target,
)
from mamofair.cli._train_options import TrainOptions, one_or_several

if TYPE_CHECKING:
    import pandas as pd

    from mamofair.cli._comparison import Comparison

__all__ = ["compare"]

_FILE = "comparison"


def compare(
    data: Annotated[str, typer.Argument(help="A CSV, Parquet or Excel file, or a data set: adult, compas, …")],
    target: Target = None,
    favorable: Favorable = None,
    exclude_label: ExcludeLabel = None,
    sensitive: Sensitive = None,
    drop: Drop = None,
    notion: Notion = None,
    crossed: Crossed = False,
    runs: Annotated[int, typer.Option(min=1, help="Number of random splits.")] = 3,
    model: Annotated[
        Names,
        typer.Option(help="One of our models: auto, net, boosting or plugin; by default the first three. Repeatable."),
    ] = None,
    peer: Annotated[
        Names,
        typer.Option(
            help="A peer: unconstrained, EG or TO of fairlearn, fairret, OxonFair, none; all by default. Repeatable."
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="The folder for results and figure; comparisons/NAME by default.")
    ] = None,
    seed: Annotated[
        int, typer.Option(min=0, max=MAX_SEED // 2, help="Random seed of the first split; each next one adds 1.")
    ] = 0,
    sep: Separator = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    sheet: Sheet = None,
    header: Header = None,
    missing: Missing = None,
    quick: Quick = False,
    force: Annotated[bool, typer.Option("--force", help="Replace an earlier comparison in the same folder.")] = False,
    as_json: AsJson = False,
) -> None:
    """Compare our models with their peers in other libraries, on the same random splits.

    A quarter of the rows is used for testing only; no choice depends on
    them. Peers that are not installed, or that do not support the options,
    are skipped with a note.

    Example: mamofair compare loans.csv --target approved --favorable yes
    --sensitive gender --notion equal_opportunity --runs 5 --model net
    --model boosting --out comparisons/loans
    """
    notions = tuple(notion or ("demographic_parity",))
    columns = tuple(sensitive or ()), tuple(drop or ())
    with warnings_as_notes():
        options = TrainOptions(
            data, target, one_or_several(favorable), *columns, notion=notions, crossed=crossed, seed=seed
        )
        options = replace(
            options,
            sep=sep,
            decimal=decimal,
            encoding=encoding,
            sheet=sheet,
            header=header,
            exclude_label=tuple(exclude_label or ()),
            missing=tuple(missing or ()),
        )
        comparison = _prepare(options, model, peer, runs, quick)
        folder = Path("comparisons") / comparison.name if out is None else out
        require_writable(folder)
        if (folder / f"{_FILE}.csv").exists() and not force:
            raise FileExistsError(
                f"{quote(str(folder), PATH)} already contains a comparison: add `--force` to replace it."
            )
        left_out: dict[str, str] = {}
        total = runs * len(comparison.methods)
        records = list(track_progress(comparison.records(left_out), total, f"Comparing on {comparison.name}"))
        if not records:
            raise ValueError(f"None of the methods can be trained: {'; '.join(left_out.values())}")
        summary, files = _write(comparison, records, folder)
    if as_json:
        result = _to_json(comparison, summary) | {"left_out": left_out, "records": records, "files": files}
        typer.echo(json.dumps(result))
    else:
        _print_result(comparison, summary, files)


def _prepare(options: TrainOptions, model: Names, peer: Names, runs: int, quick: bool) -> "Comparison":
    """Return the comparison after checking all options, columns first."""
    from mamofair.cli._comparison import PEERS, UNCONSTRAINED, Comparison, sample_rows, without_unknown_groups
    from mamofair.cli._data import read_data
    from mamofair.cli._models import MODELS
    from mamofair.notions import as_notion

    if (conditional := find_conditional(options.notion)) is not None:
        raise ValueError(
            f"`mamofair compare` does not support strata: found {quote(conditional)}. Choose another notion."
        )
    data = read_data(options)
    options = replace(options, notion=tuple(as_notion(name).name for name in options.notion))
    known = {"--model": list(MODELS), "--peer": [*PEERS, "none"]}
    for option, names in (("--model", model), ("--peer", peer)):
        if unknown := [name for name in names or () if name not in known[option]]:
            raise ValueError(f"`{option}` must be one of {', '.join(known[option])}: found {quote(unknown[0])}.")
    peers = [name for name in peer or PEERS if name != "none"]
    ours = model or [name for name in MODELS if name != "plugin"]  # which is what auto means for tables
    methods = tuple(dict.fromkeys([*ours, *peers]))
    if {*peers} - {UNCONSTRAINED}:
        data = without_unknown_groups(data)
    return Comparison(options, sample_rows(data, options.seed) if quick else data, methods, runs, quick)


def _write(comparison: "Comparison", records: list[dict[str, Any]], folder: Path) -> tuple["pd.DataFrame", list[str]]:
    """Write the records and, if matplotlib is installed, a figure; return the summary and the paths."""
    import pandas as pd

    from mamofair.cli._comparison import UNCONSTRAINED, summarize_records, uses_attributes
    from mamofair.cli._models import MODELS

    summary = summarize_records(records)
    folder.mkdir(parents=True, exist_ok=True)
    pd.DataFrame(records).to_csv(folder / f"{_FILE}.csv", index=False, lineterminator="\n")
    files = [str(folder / f"{_FILE}.csv")]
    rows = summary.fillna(0.0).reset_index()  # a single split has no deviation
    rows = rows.assign(data=comparison.name, notion=f"largest gap, {', '.join(comparison.options.notion)}")
    try:
        from mamofair.experiments import draw_methods, save_figure

        rows = rows.assign(told=rows["method"].map(uses_attributes))
        figure = draw_methods(rows, ours=MODELS, unconstrained=UNCONSTRAINED)
        figure.set(size_inches=(12, 5.5), dpi=110)  # one panel alone has no room for the legend
        files += [str(path) for path in save_figure(figure, folder, _FILE)]
    except ImportError as error:
        print_note(f"No figure was drawn: {error}")
    return summary, files


def _to_json(comparison: "Comparison", summary: "pd.DataFrame") -> dict[str, Any]:
    """Return the comparison as plain JSON; the deviation of a single split is null."""
    from mamofair.cli._comparison import uses_attributes

    head = {"data": comparison.name, "rows": len(comparison.data), "favorable": comparison.data.favorable}
    head |= {"notions": list(comparison.options.notion), "sensitive": [str(name) for name in comparison.data.sensitive]}
    head |= {"runs": comparison.runs, "seed": comparison.options.seed, "quick": comparison.quick}
    rows = summary.astype(object).where(summary.notna(), None).reset_index().to_dict("records")
    reference = dict(zip(("error", "gap"), comparison.reference, strict=True))
    methods = [row | {"told": uses_attributes(row["method"])} for row in rows]
    return head | {"reference": reference, "methods": methods}


def _print_result(comparison: "Comparison", summary: "pd.DataFrame", files: list[str]) -> None:
    from mamofair.cli._comparison import PEERS, uses_attributes
    from mamofair.cli._models import MODELS

    def cell(row: Any, name: str, digits: int = 3) -> str:
        spread = row[f"{name}_std"]
        return f"{row[name]:.{digits}f}" + (f" ± {spread:.{digits}f}" if spread == spread else "")

    rows = [
        [str(name), cell(row, "error"), cell(row, "gap"), cell(row, "hypervolume"), cell(row, "seconds", 1)]
        for name, row in summary.iterrows()
    ]
    aware = [name for name, *_ in rows if uses_attributes(name)]
    marked = [[f"{name}*" if name in aware else name, *values] for name, *values in rows]
    print_table([["method", "error", "largest gap", "hypervolume", "seconds"], *marked])
    error, gap = comparison.reference
    over = f"mean ± standard deviation over {comparison.runs} splits" if comparison.runs > 1 else "one split"
    print_sentence(
        f"Measured on test rows: {over}. The favorable outcome is `{comparison.data.favorable}`. The hypervolume is "
        f"that of the whole front, relative to the box up to error {error:.3f} (a constant classifier) and gaps of "
        f"{gap:g}."
    )
    if aware:
        print_sentence("* needs the sensitive attributes to predict.")
    print_sentence(f"{'; '.join(f'{name}: {(MODELS | PEERS)[name]}' for name, *_ in rows)}.")
    typer.echo(f"Files: {', '.join(files)}")
