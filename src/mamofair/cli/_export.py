"""`mamofair export`: one model of a run as ONNX."""

import json
from pathlib import Path
from typing import Annotated

import typer

from mamofair.cli._checks import require_writable
from mamofair.cli._console import warnings_as_notes
from mamofair.cli._options import AsJson, Margin, Point, RunFolder, SelectRate, UnusedSeed, WithinLimit

__all__ = ["export"]


def export(
    run: RunFolder,
    onnx: Annotated[Path, typer.Option(help="The ONNX file to write.")],
    point: Point = None,
    within: WithinLimit = None,
    margin: Margin = 1.0,
    select_rate: SelectRate = None,
    seed: UnusedSeed = 0,
    as_json: AsJson = False,
) -> None:
    """Export one model of a run as ONNX, encoder included: columns in, predictions out.

    Networks, boosting and plug-in rules are all one file. Each column is an
    input of shape (rows, 1). Numbers are doubles; a missing number is NaN, a
    missing text is empty.

    Example: mamofair export runs/loans --onnx loans.onnx --point 12
    """
    from mamofair.cli._predict import load_model
    from mamofair.runs import replaced_file, to_onnx

    require_writable(onnx, "--onnx", file=True)
    with warnings_as_notes():
        model = load_model(run, point, within, margin, select_rate)
        content = to_onnx(model)
    with replaced_file(onnx) as file:
        file.write(content)
    names = ["X"] if model.encoder_ is None else model.encoder_.feature_names_in_.tolist()
    if as_json:
        outputs = ["prediction", "score", "logit"]
        result = {"onnx": str(onnx), "point": model.selected_, "inputs": names, "outputs": outputs}
        typer.echo(json.dumps(result))
    else:
        typer.echo(f"Inputs: {', '.join(names)}. Outputs: prediction, score, logit.")
        typer.echo(f"The score is that of the favorable outcome, `{model.favorable_}`.")
        typer.echo(f"ONNX model of point {model.selected_}: {onnx}")
