"""`mamofair ask`: which model of a run is within a limit, with confidence; and again, with more rows."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mamofair._messages import PATH, cut, quote, quote_some
from mamofair.cli._console import print_note, print_sentence, warnings_as_notes
from mamofair.cli._options import AsJson, Decimal, Encoding, Header, Missing, RunFolder, Separator, Sheet, UnusedSeed
from mamofair.tables.file_format import FileFormat

if TYPE_CHECKING:
    from mamofair.runs import Run, StoredQuestion

__all__ = ["ask"]

_CONFIDENCE = 0.95


def ask(
    run: RunFolder,
    table: Annotated[
        Path | None,
        typer.Argument(
            help="New rows with true labels, CSV, Parquet or Excel; without a table, the answer so far is shown."
        ),
    ] = None,
    within: Annotated[
        float | None, typer.Option(help="The largest acceptable gap. Fixed when the question is first asked.")
    ] = None,
    confidence: Annotated[
        float | None, typer.Option(help="Confidence; 0.95 by default. Fixed when the question is first asked.")
    ] = None,
    new: Annotated[
        bool, typer.Option("--new", help="Ask a new question; rows counted so far cannot answer it.")
    ] = False,
    all_new: Annotated[
        bool, typer.Option("--all-new", help="Count all rows, even those that look the same as earlier ones.")
    ] = False,
    sep: Separator = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    sheet: Sheet = None,
    header: Header = None,
    missing: Missing = None,
    seed: UnusedSeed = 0,
    as_json: AsJson = False,
) -> None:
    """Ask which model of a run is within a limit, and ask again with more rows, as often as you like.

    The rows must be new: a random sample of the people the model is for,
    not used in training. The run keeps the question, and each call with
    more rows continues it. Whenever you look, the chance of ever naming a
    model that exceeds the limit is at most 1 − confidence.

    Example: mamofair ask runs/loans march.csv --within 0.05 --confidence
    0.95
    """
    from mamofair.notions import require_gap
    from mamofair.runs import load_run, own_folder, write_question

    file_format = FileFormat(sep, decimal, encoding, missing=missing, sheet=sheet, header=header)
    if within is not None:
        require_gap(within, "`--within`")
    with warnings_as_notes():
        loaded = load_run(run)
        with own_folder(run):
            stored = _find_question(run, loaded, within, confidence, new)
            stored, counted = (stored, 0) if table is None else _count_rows(stored, loaded, table, all_new, file_format)
            write_question(stored, run)
    _print_answer(run, stored, counted, as_json)


def _find_question(
    folder: Path, run: "Run", within: float | None, confidence: float | None, new: bool
) -> "StoredQuestion":
    """Return the question that was asked of this run, or a new one."""
    from mamofair.runs import StoredQuestion, read_question
    from mamofair.selection import Question

    earlier, checksum = read_question(folder), run.settings["checksum"]
    if earlier is not None and not new:
        _require_same(earlier, checksum, within, confidence)
        return earlier
    if within is None:
        raise ValueError("`--within` is missing: name the largest acceptable gap, as in `--within 0.05`.")
    question = Question.of(run.estimator.front_, within, _CONFIDENCE if confidence is None else confidence)
    if earlier is None:
        return StoredQuestion(question, checksum)
    print_note(
        f"This is question {earlier.number + 1} of this run, and starts without rows. Each question has its own chance "
        "to be wrong: do not take the answer you like best."
    )
    return earlier.ask_anew(question, checksum)


def _require_same(earlier: "StoredQuestion", checksum: str, within: float | None, confidence: float | None) -> None:
    """Raise a `ValueError` if a question is not the one that was asked before."""
    advice = "Add `--new` to ask a new question, which the rows counted so far cannot answer."
    if earlier.run != checksum:
        raise ValueError(f"The run was retrained since the question was asked, so its models have changed. {advice}")
    question = earlier.question
    limit = max(question.limits.values())
    if within is not None and within != limit:
        raise ValueError(f"`--within` was fixed at {limit:g} when the question was asked: found {within:g}. {advice}")
    if confidence is not None and confidence != question.confidence:
        raise ValueError(
            f"`--confidence` was fixed at {question.confidence:g} when the question was asked: found {confidence:g}. "
            f"{advice}"
        )


def _count_rows(
    stored: "StoredQuestion", run: "Run", table: Path, all_new: bool, file_format: FileFormat
) -> tuple["StoredQuestion", int]:
    """Return the question after the rows of a table, and how many of them were new."""
    import numpy as np

    from mamofair.cli._labelled_rows import list_left_out, read_labelled_rows, read_row_keys, require_fresh

    X, labels, people = read_labelled_rows(table, run, file_format)
    require_fresh(table, run)
    keys, columns = read_row_keys(table, run, file_format)
    is_new = np.ones(len(keys), dtype=bool) if all_new else stored.new_rows(keys, columns)
    if not is_new.any():
        raise ValueError(
            f"Each row may count only once: all {len(is_new):,} rows of {quote(table.name, PATH)} have been counted "
            "before. Add new rows, or leave the table out to see the answer so far."
        )
    if not is_new.all():
        print_note(
            f"{len(is_new) - is_new.sum():,} of {len(is_new):,} rows have been counted before: the others are new."
        )
    people = people[is_new]
    question = stored.question.update_from(run.estimator, X[is_new], labels[is_new], sensitive_features=people)
    if left_out := {name: values for name, values in list_left_out(run).items() if values}:
        named = cut("; ".join(f"{name}={quote_some(values)}" for name, values in left_out.items()), PATH)
        print_note(f"Not compared, because training left them out as too small: {named}.")
    return stored.add(question, keys[is_new], columns), len(people)


def _print_answer(folder: Path, stored: "StoredQuestion", counted: int, as_json: bool) -> None:
    question, answer = stored.question, stored.question.answer
    if as_json:
        result: dict[str, Any] = {
            "run": str(folder),
            "question": stored.number,
            "status": answer.status,
            "point": answer.row,
            "message": answer.message,
            "limits": dict(answer.limits),
            "confidence": answer.confidence,
            "rows": question.rows,
            "new_rows": counted,
            "intervals": {name: list(ends) for name, ends in answer.intervals.items()},
            "more_rows": dict(answer.more_rows),
            "too_close": list(answer.too_close),
        }
        typer.echo(json.dumps(result))
        return
    print_sentence(answer.message)
    print_sentence(f"{question.rows:,} rows so far, {counted:,} of them from this table.")
    if answer.row is not None:
        print_sentence(f"To predict with it: mamofair predict {folder} new.csv --point {answer.row} -o decided.csv")
