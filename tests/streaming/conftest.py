"""What tests here share."""

import pandas as pd
import pytest

import applicant_table


@pytest.fixture
def applicants() -> pd.DataFrame:
    return applicant_table.applicants()
