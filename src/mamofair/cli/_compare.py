"""`mamofair compare`: our estimators and their peers on the same splits of the same rows."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mamofair._messages import PATH, quote
from mamofair.cli._asked import Asked
from mamofair.cli._notes import counted, note, noted_warnings
from mamofair.cli._options import MOST_SEED, AsJson, Crossed, Drop, Favorable, Many, Notion, Sensitive, Target
from mamofair.cli._screen import show_sentence, show_table
from mamofair.cli._values import require_writable

if TYPE_CHECKING:
    import pandas as pd

    from mamofair.cli._contest import Contest

_FILE = "comparison"


def compare(
    data: Annotated[str, typer.Argument(help="A CSV or Parquet file, or a data set: adult, compas, …")],
    target: Target = None,
    favorable: Favorable = None,
    sensitive: Sensitive = None,
    drop: Drop = None,
    notion: Notion = None,
    crossed: Crossed = False,
    runs: Annotated[int, typer.Option(min=1, help="How many random splits.")] = 3,
    model: Annotated[Many, typer.Option(help="net, boosting, plugin or portfolio; all by default. Repeat.")] = None,
    peer: Annotated[Many, typer.Option(help="unconstrained, EG, TO, fairret, OxonFair or none; else all.")] = None,
    out: Annotated[Path | None, typer.Option(help="A folder for picture and figures; else comparisons/NAME.")] = None,
    seed: Annotated[
        int, typer.Option(min=0, max=MOST_SEED // 2, help="Of the first split and of all that is random.")
    ] = 0,
    quick: Annotated[bool, typer.Option("--quick", help="Few rows and epochs: does it all work?")] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace an earlier comparison in the same folder.")] = False,
    as_json: AsJson = False,
) -> None:
    """Train our estimators and the peers that are installed on the same splits, and show who does how well.

    A quarter of the rows is for tests, and nothing is chosen by them. Peers that are not installed, or that cannot do
    what is asked, are named and left out.

    Example: mamofair compare loans.csv --target approved --favorable yes --sensitive gender --notion equal_opportunity
    --runs 5 --model net --model boosting --out comparisons/loans
    """
    notions = tuple(notion or ("demographic_parity",))
    columns = tuple(sensitive or ()), tuple(drop or ())
    with noted_warnings():
        contest = _prepared(
            Asked(data, target, favorable, *columns, notions, crossed, seed=seed), model, peer, runs, quick
        )
        folder = Path("comparisons") / contest.data.name if out is None else out
        require_writable(folder)
        if (folder / f"{_FILE}.csv").exists() and not force:
            raise FileExistsError(f"There is a comparison in {quote(str(folder), PATH)}: add `--force` to replace it.")
        left_out: dict[str, str] = {}
        total = runs * len(contest.methods)
        records = list(counted(contest.records(left_out), total, f"comparing on {contest.data.name}"))
        if not records:
            raise ValueError(f"There must be a method that can be trained: {'; '.join(left_out.values())}")
        found, files = _written(contest, records, folder)
    if as_json:
        typer.echo(json.dumps(_plain(contest, found) | {"left_out": left_out, "records": records, "files": files}))
    else:
        _show(contest, found, files)


def _prepared(asked: Asked, model: Many, peer: Many, runs: int, quick: bool) -> "Contest":
    """Return the contest; all that can be wrong is looked at first, columns before anything else."""
    from dataclasses import replace

    from mamofair.cli._contest import PEERS, Contest, fewer
    from mamofair.cli._data import read_data
    from mamofair.cli._learn import MODELS
    from mamofair.notions import as_notion

    data = read_data(asked)
    asked = replace(asked, notion=tuple(as_notion(name).name for name in asked.notion))
    known = {"--model": list(MODELS), "--peer": [*PEERS, "none"]}
    for option, names in (("--model", model), ("--peer", peer)):
        if strays := [name for name in names or () if name not in known[option]]:
            raise ValueError(f"`{option}` must be of {', '.join(known[option])}: found {quote(strays[0])}.")
    peers = [name for name in peer or PEERS if name != "none"]
    methods = tuple(dict.fromkeys([*(model or MODELS), *peers]))
    return Contest(asked, fewer(data, asked.seed) if quick else data, methods, runs, quick)


def _written(contest: "Contest", records: list[dict[str, Any]], folder: Path) -> tuple["pd.DataFrame", list[str]]:
    """Return the summary, and the files written: every record, and, if pictures can be drawn here, a picture."""
    import pandas as pd

    from mamofair.cli._contest import UNCONSTRAINED, is_told, summary
    from mamofair.cli._learn import MODELS

    found = summary(records)
    folder.mkdir(parents=True, exist_ok=True)
    pd.DataFrame(records).to_csv(folder / f"{_FILE}.csv", index=False, lineterminator="\n")
    files = [str(folder / f"{_FILE}.csv")]
    rows = found.fillna(0.0).reset_index()  # a single split has no deviation
    rows = rows.assign(data=contest.data.name, notion=f"largest gap, {', '.join(contest.asked.notion)}")
    try:
        from mamofair.experiments import draw_methods, save_figure

        figure = draw_methods(rows.assign(told=rows["method"].map(is_told)), ours=MODELS, unconstrained=UNCONSTRAINED)
        figure.set(size_inches=(12, 5.5), dpi=110)  # room for the legend, which one panel alone lacks
        files += [str(path) for path in save_figure(figure, folder, _FILE)]
    except ImportError as error:
        note(f"No picture is drawn. {error}")
    return found, files


def _plain(contest: "Contest", found: "pd.DataFrame") -> dict[str, Any]:
    """Return the comparison as plain JSON; a single split has no deviation: null."""
    from mamofair.cli._contest import is_told

    head = {"data": contest.data.name, "rows": len(contest.data.y), "favorable": contest.data.favorable}
    head |= {"notions": list(contest.asked.notion), "sensitive": [str(name) for name in contest.data.sensitive]}
    head |= {"runs": contest.runs, "seed": contest.asked.seed, "quick": contest.quick}
    rows = found.astype(object).where(found.notna(), None).reset_index().to_dict("records")
    reference = dict(zip(("error", "gap"), contest.reference, strict=True))
    return head | {"reference": reference, "methods": [row | {"told": is_told(row["method"])} for row in rows]}


def _show(contest: "Contest", found: "pd.DataFrame", files: list[str]) -> None:
    from mamofair.cli._contest import PEERS, is_told
    from mamofair.cli._learn import MODELS

    def cell(row: Any, name: str, digits: int = 3) -> str:
        spread = row[f"{name}_std"]
        return f"{row[name]:.{digits}f}" + (f" ± {spread:.{digits}f}" if spread == spread else "")

    rows = [
        [str(name), cell(row, "error"), cell(row, "gap"), cell(row, "hypervolume"), cell(row, "seconds", 1)]
        for name, row in found.iterrows()
    ]
    told = [name for name, *_ in rows if is_told(name)]
    marked = [[f"{name}*" if name in told else name, *values] for name, *values in rows]
    show_table([["method", "error", "largest gap", "hypervolume", "seconds"], *marked])
    error, gap = contest.reference
    over = f"mean ± deviation over {contest.runs} splits" if contest.runs > 1 else "one split"
    show_sentence(
        f"On test rows, {over}. The favorable outcome is `{contest.data.favorable}`. Hypervolume: of the whole front, "
        f"as a share of the box up to error {error:.3f} (all decided alike) and gaps {gap:g}."
    )
    if told:
        show_sentence("* is told the sensitive attributes when it predicts.")
    show_sentence(f"{'; '.join(f'{name}: {(MODELS | PEERS)[name]}' for name, *_ in rows)}.")
    typer.echo(f"Files: {', '.join(files)}")
