"""A mark for tests that fit models too briefly, or to too few rows, to be better than one decision for everyone."""

import pytest

TINY_FITS = pytest.mark.filterwarnings("ignore:No model is better than one decision for everyone:UserWarning")
