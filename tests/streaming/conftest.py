"""What tests here share."""

import pandas as pd
import pytest

import applicant_table
from short_search import short_search

__all__ = ["applicants", "short_search"]


@pytest.fixture
def applicants() -> pd.DataFrame:
    return applicant_table.applicants()
