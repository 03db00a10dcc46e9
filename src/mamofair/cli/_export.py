"""`mamofair export`: one model of a run, for other programs."""

import json
from pathlib import Path
from typing import Annotated

import typer

from mamofair.cli._options import AsJson, IdleSeed, PointOf, WithinOf
from mamofair.cli._values import require_writable


def export(
    run: Annotated[Path, typer.Argument(help="A run folder.")],
    onnx: Annotated[Path, typer.Option(help="Where to write the ONNX model.")],
    point: PointOf = None,
    within: WithinOf = None,
    seed: IdleSeed = 0,
    as_json: AsJson = False,
) -> None:
    """Write one model of a run (`--model net`) as ONNX, encoder included: columns in, decisions out.

    Numbers are double with NaN for missing, text is empty for missing; each column has the shape (rows, 1).

    Example: mamofair export runs/loans --onnx loans.onnx --point 12
    """
    from mamofair import FairNetClassifier
    from mamofair.cli._predict import opened_at
    from mamofair.runs import to_onnx
    from mamofair.runs._locks import replaced_file

    require_writable(onnx, "--onnx", file=True)
    model = opened_at(run, point, within)
    if not isinstance(model, FairNetClassifier):
        raise ValueError(f"Only networks are exported: {run} has a {type(model).__name__}. Train with `--model net`.")
    content = to_onnx(model)
    with replaced_file(onnx) as file:
        file.write(content)
    names = ["X"] if model.encoder_ is None else model.encoder_.feature_names_in_.tolist()
    if as_json:
        outputs = ["prediction", "score", "logit"]
        told = {"onnx": str(onnx), "point": model.selected_, "inputs": names, "outputs": outputs}
        typer.echo(json.dumps(told))
    else:
        typer.echo(f"Point {model.selected_}, inputs {', '.join(names)}; outputs prediction, score, logit: {onnx}")
        typer.echo(f"The score is that of the favorable outcome, `{model.favorable_}`.")
