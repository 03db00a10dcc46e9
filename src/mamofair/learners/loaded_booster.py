"""Boosters that only predict, in LightGBM's library but without its Python package.

The package imports scikit-learn's model selection and all that it needs, for a second of CPU time; predictions need
four functions of the library's C interface.
"""

import ctypes
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias
from weakref import finalize

import numpy as np
from jaxtyping import Shaped

if TYPE_CHECKING:
    import lightgbm

    Booster: TypeAlias = "lightgbm.Booster | LoadedBooster"  # trained here, or read

__all__ = ["LoadedBooster"]

_RAW_SCORE, _LEAF = 1, 2  # what to predict, and
_TYPES = {np.dtype(np.float32): 0, np.dtype(np.float64): 1}  # of what, in the numbers of LightGBM's C interface
_AT_ONCE = 2**24  # rows: LightGBM counts them with 32 bits


class LoadedBooster:
    """The booster of a text in LightGBM's format, which must be one that is trusted: LightGBM does not check it.

    It has the methods of `lightgbm.Booster` that predictions need, with the same results.
    """

    def __init__(self, text: str) -> None:
        self._handle, trees = ctypes.c_void_p(), ctypes.c_int()
        _call("BoosterLoadModelFromString", text.encode(), ctypes.byref(trees), ctypes.byref(self._handle))
        finalize(self, _library().LGBM_BoosterFree, self._handle).atexit = False
        self._trees, self._features = trees.value, ctypes.c_int()
        _call("BoosterGetNumFeature", self._handle, ctypes.byref(self._features))

    def __reduce__(self) -> tuple[Any, ...]:
        return LoadedBooster, (self.model_to_string(),)

    def num_feature(self) -> int:
        """Return the number of columns."""
        return self._features.value

    def num_trees(self) -> int:
        """Return the number of trees."""
        return self._trees

    def model_to_string(self, num_iteration: int = -1) -> str:
        """Return the text of the first trees, −1 for all."""
        size, needed = 0, ctypes.c_int64(1)
        while size < needed.value:  # LightGBM says how much it needs
            size = needed.value
            text = ctypes.create_string_buffer(size)
            first = ctypes.c_int(0), ctypes.c_int(num_iteration), ctypes.c_int(0)
            _call("BoosterSaveModelToString", self._handle, *first, ctypes.c_int64(size), ctypes.byref(needed), text)
        return text.value.decode()

    def dump_model(self, num_iteration: int = -1) -> dict[str, Any]:
        """Return the first trees as nested dictionaries, as the package does it."""
        from lightgbm import Booster

        return dict(Booster(model_str=self.model_to_string(num_iteration)).dump_model())

    def predict(
        self,
        X: Shaped[np.ndarray, "n columns"],
        *,
        raw_score: bool = False,
        pred_leaf: bool = False,
        num_iteration: int = -1,
        num_threads: int = 1,
    ) -> Shaped[np.ndarray, "n ..."]:
        """Return the raw scores of rows, or the numbers of their leaves, with all trees."""
        if raw_score == pred_leaf or num_iteration != -1:
            raise ValueError("A loaded booster predicts raw scores, or leaves, with all of its trees.")
        shape = (self._trees,) if pred_leaf else ()
        output = np.empty((len(X), *shape))
        for start in range(0, len(X), _AT_ONCE):
            rows = slice(start, start + _AT_ONCE)
            self._predict(X[rows], _LEAF if pred_leaf else _RAW_SCORE, num_threads, output[rows])
        return output.astype(np.int32) if pred_leaf else output

    def _predict(self, X: Shaped[np.ndarray, "n columns"], what: int, threads: int, out: np.ndarray) -> None:
        """Write predictions to `out`."""
        by_row = not X.flags.f_contiguous
        data = np.require(X, X.dtype if X.dtype in _TYPES else float, ["C" if by_row else "F"])
        numbers = ctypes.c_int(_TYPES[data.dtype]), ctypes.c_int32(len(X)), ctypes.c_int32(X.shape[1])
        how = ctypes.c_int(by_row), ctypes.c_int(what), ctypes.c_int(0), ctypes.c_int(-1)
        ways, count = f"num_threads={threads}".encode(), ctypes.c_int64()
        places = ctypes.c_void_p(data.ctypes.data), ctypes.c_void_p(out.ctypes.data)
        _call("BoosterPredictForMat", self._handle, places[0], *numbers, *how, ways, ctypes.byref(count), places[1])


def _call(name: str, *arguments: Any) -> None:
    """Call a function of LightGBM's library; its errors are numbers, and a text that it keeps."""
    library = _library()
    if getattr(library, f"LGBM_{name}")(*arguments):
        library.LGBM_GetLastError.restype = ctypes.c_char_p
        raise ValueError(f"LightGBM: {library.LGBM_GetLastError().decode(errors='replace')}")


@cache
def _library() -> ctypes.CDLL:
    """Return LightGBM's library: the file in the package, which is not imported, or where conda puts it."""
    package = find_spec("lightgbm")
    folders = [] if package is None else [Path(place) for place in package.submodule_search_locations or ()]
    prefix = Path(sys.prefix)
    for folder in (*(root / "lib" for root in folders), *folders, prefix / "lib", prefix / "Library" / "bin"):
        for path in sorted(folder.glob("lib_lightgbm.*")):
            return ctypes.CDLL(str(path))
    raise ImportError("Trees need LightGBM's library, which comes with its package: pip install lightgbm.")
