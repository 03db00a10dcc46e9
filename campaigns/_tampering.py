"""Ways to tamper with a run's folder. Each says whether the checksums are to be written again, as a forger would."""

import hashlib
import io
import json
import pickle
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.numpy

_NONSENSE = (
    *(float("nan"), float("inf"), -1, -1.5, 0, 1, 10**9, 10**30, 1e308, True, None, "", "x", [], {}, [[]], "Popen"),
    *({"dict": {}}, {"tuple": []}, {"float": "nan"}, {"array": "nowhere"}, {"model": "model_000.skops"}),
    *({"texts": ["a"], "dtype": "<U400000000"}, {"is": "MLP", "of": {"hidden": {"tuple": [30000, 30000]}}}),
)


def write_sums(folder: Path) -> None:
    """Write the checksums of the files that the list names, as they are now."""
    try:
        head = json.loads((folder / "run.json").read_bytes())
        for name in head["files"]:
            head["files"][name] = hashlib.sha256((folder / name).read_bytes()).hexdigest()
        (folder / "run.json").write_text(json.dumps(head))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return  # a mutation of the list, or a file that is gone: there is nothing to write again


def _files(folder: Path, *suffixes: str) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix in (suffixes or (path.suffix,)))


def _pick(rng: np.random.Generator, options: Any) -> Any:
    return options[int(rng.integers(len(options)))]


def flip_bits(folder: Path, rng: np.random.Generator) -> bool:
    path = _pick(rng, _files(folder))
    content = bytearray(path.read_bytes())
    for _ in range(int(rng.integers(1, 4))):
        content[int(rng.integers(len(content)))] ^= 1 << int(rng.integers(8))
    path.write_bytes(bytes(content))
    return bool(rng.random() < 0.8)


def cut_file(folder: Path, rng: np.random.Generator) -> bool:
    path = _pick(rng, _files(folder))
    content = path.read_bytes()
    path.write_bytes(content[: int(rng.integers(len(content)))])
    return bool(rng.random() < 0.8)


def swap_files(folder: Path, rng: np.random.Generator) -> bool:
    one, other = (_pick(rng, _files(folder)) for _ in range(2))
    first, second = one.read_bytes(), other.read_bytes()
    one.write_bytes(second)
    other.write_bytes(first)
    return True


def replace_file(folder: Path, rng: np.random.Generator) -> bool:
    path = _pick(rng, _files(folder))
    deep = b"[" * 10**5 + b"]" * 10**5
    contents = (b"", b"{}", b"null", deep, b"[1e999]", pickle.dumps(print), rng.bytes(500), struct.pack("<Q", 2**62))
    path.write_bytes(_pick(rng, contents))
    return True


def remove_or_link(folder: Path, rng: np.random.Generator) -> bool:
    path = _pick(rng, _files(folder))
    outside = folder.parent / f"outside-{path.name}"
    target = _pick(rng, (None, outside, Path("/dev/zero"), Path("/etc/passwd"), folder / "front.csv"))
    if target == outside:
        outside.write_bytes(path.read_bytes())
    path.unlink()
    if target is not None:
        path.symlink_to(target)
    return False


def _places(document: Any) -> list[tuple[Any, Any]]:
    """Return every place in a document: what holds it, and its key there."""
    if not isinstance(document, dict | list):
        return []
    keys = list(document) if isinstance(document, dict) else range(len(document))
    return [place for key in keys for place in ((document, key), *_places(document[key]))]


def edit_json(folder: Path, rng: np.random.Generator) -> bool:
    path = _pick(rng, _files(folder, ".json"))
    document = json.loads(path.read_bytes())
    for _ in range(int(rng.integers(1, 3))):
        places = _places(document)
        holder, key = _pick(rng, places)
        change = rng.integers(4)
        if change == 0:
            del holder[key]
        elif change == 1:
            other, its = _pick(rng, places)
            holder[key] = json.loads(json.dumps(other.get(its) if isinstance(other, dict) else None))
        elif change == 2 and isinstance(holder, dict):
            holder[_pick(rng, ("extra", "__class__", "_score", "predict"))] = _pick(rng, _NONSENSE)
        else:
            holder[key] = _pick(rng, _NONSENSE)
    path.write_text(json.dumps(document))
    return True


def edit_table(folder: Path, rng: np.random.Generator) -> bool:
    path = _pick(rng, _files(folder, ".csv"))
    rows = [line.split(",") for line in path.read_text().splitlines()]
    row = _pick(rng, rows)
    row[int(rng.integers(len(row)))] = _pick(
        rng, ("nan", "inf", "-1", "1e999", "x", "", '"', "1,2,3", "=1+1", "9" * 5000)
    )
    path.write_text("\n".join(",".join(row) for row in rows) + "\n")
    return True


def edit_tensors(folder: Path, rng: np.random.Generator) -> bool:
    path = _pick(rng, [path for path in _files(folder, ".safetensors") if safetensors.numpy.load(path.read_bytes())])
    tensors = {name: array.copy() for name, array in safetensors.numpy.load(path.read_bytes()).items()}
    name, change = _pick(rng, sorted(tensors)), int(rng.integers(6))
    array = tensors[name]
    if change == 0 and array.size:
        value = _pick(rng, (np.nan, np.inf, -np.inf, 1e30, -1, 0, 7))
        with np.errstate(all="ignore"):
            array.flat[int(rng.integers(array.size))] = value if array.dtype.kind == "f" else int(rng.integers(-9, 99))
    elif change == 1:
        tensors[name] = array.reshape(-1)[: array.size // 2].copy()
    elif change == 2:
        tensors[name] = array.astype(_pick(rng, (np.float16, np.int64, np.float64, np.uint8)))
    elif change == 3:
        other = _pick(rng, sorted(tensors))
        tensors[name], tensors[other] = tensors[other], tensors[name]
    elif change == 4:
        del tensors[name]
    else:
        tensors[name] = np.zeros((*array.shape, 1), dtype=array.dtype) + 10**6
    path.write_bytes(safetensors.numpy.save(tensors))
    return True


def craft_trees(folder: Path, rng: np.random.Generator) -> bool:
    """Change nodes of a booster's trees: children, features, sizes, kinds of decisions."""
    path = folder / "learned.safetensors"
    tensors = {name: array.copy() for name, array in safetensors.numpy.load(path.read_bytes()).items()}
    nodes = sorted(name for name in tensors if "_boosters" in name and tensors[name].size)
    if not nodes:
        return edit_tensors(folder, rng)
    for _ in range(int(rng.integers(1, 4))):
        array = tensors[_pick(rng, nodes)]
        value = _pick(rng, (0, 1, 2, 3, 5, -1, -2, 40, 2**31, -(2**31), 2**40, float("nan"), float("inf")))
        if array.dtype.kind == "f" or np.isfinite(value):
            array[int(rng.integers(len(array)))] = value
    path.write_bytes(safetensors.numpy.save(tensors))
    return True


def _repack(content: bytes, change: Callable[[str, bytes], bytes], method: int = zipfile.ZIP_STORED) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(packed, "w", method) as new:
        for name in old.namelist():
            new.writestr(name, change(name, old.read(name)))
    return packed.getvalue()


def craft_model(folder: Path, rng: np.random.Generator) -> bool:
    """Change the arrays or the schema in a file of scikit-learn's parts, or make it unpack to more than it is."""
    paths = _files(folder, ".skops")
    if not paths:
        return edit_json(folder, rng)
    path = _pick(rng, paths)
    content = path.read_bytes()
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        chosen = _pick(rng, archive.namelist())

    def change(name: str, part: bytes) -> bytes:
        if name != chosen:
            return part
        if not name.endswith(".npy"):
            return _crafted_schema(part, rng)
        array = np.load(io.BytesIO(part))
        altered = bytearray(array.tobytes())
        for _ in range(int(rng.integers(1, 9)) if altered else 0):
            altered[int(rng.integers(len(altered)))] = int(_pick(rng, (0, 1, 127, 255)))
        buffer = io.BytesIO()
        np.save(buffer, np.frombuffer(bytes(altered), dtype=array.dtype).reshape(array.shape))
        return buffer.getvalue()

    bomb = rng.random() < 0.1
    method = zipfile.ZIP_DEFLATED if bomb else zipfile.ZIP_STORED
    path.write_bytes(_repack(content, (lambda name, part: part + b" " * 10**7) if bomb else change, method))
    return True


def _crafted_schema(part: bytes, rng: np.random.Generator) -> bytes:
    document = json.loads(part)
    places = _places(document)
    for _ in range(int(rng.integers(1, 4))):
        holder, key = _pick(rng, places)
        holder[key] = _pick(rng, (*_NONSENSE, "os", "system", "sklearn.svm._classes", "9999999"))
    return json.dumps(document).encode()


#: By what the table of results calls them.
MUTATIONS: dict[str, Callable[[Path, np.random.Generator], bool]] = {
    "bits flipped": flip_bits,
    "file cut short": cut_file,
    "files swapped": swap_files,
    "file replaced": replace_file,
    "file gone, or a link": remove_or_link,
    "JSON edited": edit_json,
    "table edited": edit_table,
    "tensors edited": edit_tensors,
    "trees crafted": craft_trees,
    "model crafted": craft_model,
}
