"""Predictions for rows of a CSV or Excel file: their cells stay as they are, and two columns are added."""

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, time
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd
from scipy.special import expit

from mamofair._messages import quote
from mamofair.tables.formulas import safe_csv

if TYPE_CHECKING:
    from mamofair.estimators import FairClassifier

__all__ = ["Batches", "predict_rows", "write_csv", "write_excel"]

#: Rows as they are in their file with their predictions and scores, and which predictions are favorable.
Batches: TypeAlias = Iterator[tuple[pd.DataFrame, np.ndarray]]

_ADDED = ("prediction", "score")
_MIDNIGHT = time()


def predict_rows(
    model: "FairClassifier",
    label: str,
    batches: Iterable[tuple[pd.DataFrame, pd.DataFrame]],
    count: Callable[[pd.DataFrame], None],
) -> Batches:
    """Yield the rows of a table, of which each batch has the rows as they are there and the features of a model.

    Each batch of features is also given to `count`.
    """
    places, sign = ((1, 0), 1) if model.classes_[1] == model.favorable_ else ((0, 1), -1)
    for whole, features in batches:
        if taken := [name for name in _ADDED if name in whole]:
            raise ValueError(f"{label} already has a column {quote(taken[0])}: rename or remove it.")
        scores = sign * model.decision_function(features)
        count(features)
        whole["prediction"] = model.classes_[np.where(scores > 0, *places)]
        whole["score"] = expit(scores)
        yield whole, scores > 0


def write_csv(batches: Batches, file: Any) -> np.ndarray:
    """Write rows as CSV, and return which predictions are favorable."""
    decided = [np.zeros(0, dtype=bool)]
    for rows, favorable in batches:
        file.write(safe_csv(rows, header=len(decided) == 1))
        decided.append(favorable)
    return np.concatenate(decided)


def write_excel(batches: Batches, file: Any) -> np.ndarray:
    """Write rows as a workbook with one sheet, and return which predictions are favorable."""
    from openpyxl import Workbook

    book, decided = Workbook(write_only=True), [np.zeros(0, dtype=bool)]
    sheet = book.create_sheet("predictions")
    for rows, favorable in batches:
        if len(decided) == 1:
            sheet.append([_excel_cell(sheet, name) for name in rows])
        for row in rows.itertuples(index=False, name=None):
            sheet.append([_excel_cell(sheet, value) for value in row])
        decided.append(favorable)
    book.save(file)
    return np.concatenate(decided)


def _excel_cell(sheet: Any, value: Any) -> Any:
    """Return what a cell holds; text is text, even if it begins like a formula."""
    from openpyxl.cell import WriteOnlyCell

    if isinstance(value, str):
        cell = WriteOnlyCell(sheet, value=value)
        if cell.data_type == "f":
            cell.data_type = "s"
        return cell
    if pd.isna(value):
        return None
    plain = value.item() if isinstance(value, np.generic) else value
    return plain.date() if isinstance(plain, datetime) and plain.time() == _MIDNIGHT else plain
