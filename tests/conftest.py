"""What many tests share: a table of eight people computed by hand, and hypothesis settings."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "offline", deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
settings.load_profile("offline")


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


@pytest.fixture
def eight_people() -> pd.DataFrame:
    """Women: TP, FN, FP, TN; men: TP, TP, FP, TN. So, women and men:

    P(ŷ=1) 2/4, 3/4 · P(ŷ=1|y=1) 1/2, 2/2 · P(ŷ=1|y=0) 1/2, 1/2 · P(ŷ=y) 2/4, 3/4 · P(y=1|ŷ=1) 1/2, 2/3 ·
    P(y=1|ŷ=0) 1/2, 0/1.
    """
    return pd.DataFrame(
        {
            "sex": ["F", "F", "F", "F", "M", "M", "M", "M"],
            "y": [1, 1, 0, 0, 1, 1, 0, 0],
            "predicted": [1, 0, 1, 0, 1, 1, 1, 0],
        }
    )
