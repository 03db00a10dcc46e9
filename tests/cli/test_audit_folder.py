"""`mamofair audit` of Parquet files, alone or in a folder: what it says of the same rows in memory."""

import json
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import forked
from mamofair.cli import app
from mamofair.streaming import cells
from mamofair.streaming.parquet import merge_schemas, open_shards

ASKED = ("--target", "approved", "--favorable", "yes", "--prediction", "decided", "--notion", "dp")
ROWS = 2400


def people():
    """Groups of texts with gaps and of numbers to bin, a date and a time, and labels of more than two values."""
    rng = np.random.default_rng(7)
    return pd.DataFrame(
        {
            "sex": rng.choice(np.array(["F", "M", None], dtype=object), ROWS, p=[0.5, 0.4, 0.1]),
            "age": np.where(rng.random(ROWS) < 0.1, np.nan, rng.normal(45, 15, ROWS).round(2)),
            "approved": rng.choice(["yes", "no"], ROWS),
            "decided": rng.choice(["yes", "no"], ROWS, p=[0.3, 0.7]),
            "final": rng.choice(["yes", "yes, later", "no"], ROWS),
            "branch": rng.choice(["north", "south"], ROWS),
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300 * 86_400, ROWS), unit="s"),
            "score": rng.random(ROWS),
        }
    ).assign(zoned=lambda frame: frame["day"].dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo"))


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """The same rows as a CSV file, a Parquet file of several row groups, and a folder of several files of such."""
    home, frame = tmp_path_factory.mktemp("decided"), people()
    frame.to_csv(home / "decided.csv", index=False)
    frame.to_parquet(home / "decided.parquet", index=False, row_group_size=500)
    (home / "decided").mkdir()
    for i, start in enumerate(range(0, ROWS, 900)):
        part = frame[start : start + 900].assign(**({"more": 1} if i else {}))  # a column that nobody asks for
        part.to_parquet(home / "decided" / f"part-{i}.parquet", index=False, row_group_size=400)
    return home


def run(*arguments, code=0):
    done = CliRunner().invoke(app, ["audit", *map(str, arguments)])
    assert done.exit_code == code, (done.output, done.exception)
    return done


@pytest.mark.parametrize(
    "options",
    [
        ("--sensitive", "sex", "--sensitive", "age:45", "--crossed", "--groups"),
        ("--sensitive", "sex", "--by", "day:month", "--json"),
        ("--sensitive", "age:45", "--by", "zoned:month"),
        ("--sensitive", "age:40", "--by", "branch", "--gate"),
        ("--sensitive", "sex", "--strata", "branch", "--notion", "conditional_demographic_parity", "--by", "branch"),
    ],
)
def test_files_and_folders_are_audited_as_the_same_rows_in_memory(tables, options):
    done = [
        CliRunner().invoke(app, ["audit", str(tables / name), *ASKED, *options])
        for name in ("decided.csv", "decided.parquet", "decided")
    ]
    assert done[0].exit_code in (0, 3, 4), done[0].output
    first, *others = [(one.exit_code, one.stdout.replace("decided.csv", ""), one.stderr) for one in done]
    names = ("decided.parquet", "decided")
    for other, name in zip(others, names, strict=True):
        code, said, noted = other
        document = f'{tables / name}"'
        assert (code, said.replace(document, f'{tables}/"'), noted) == first


def test_bins_and_months_make_few_kinds_of_rows_together(tables, monkeypatch):
    monkeypatch.setattr(cells, "_MOST", 2 * 2 * 3 * 10)  # labels, decisions, bins or none, and months
    run(tables / "decided", *ASKED, "--sensitive", "age:45", "--by", "day:month")


def test_labels_are_merged_and_left_out_as_in_memory(tables):
    asked = ("--prediction", "final", "--sensitive", "sex", "--favorable", "yes", "--favorable", "yes, later")
    one, other = (run(tables / name, *asked) for name in ("decided.csv", "decided"))
    assert (one.stdout, one.stderr) == (other.stdout, other.stderr)
    assert "yes or yes, later" in one.stdout


def test_a_page_and_a_policy_take_a_folder(tables, tmp_path):
    (tmp_path / "policy.toml").write_text('attributes = ["sex"]\nnotions = ["dp"]\nlimit = 0.3\nmax_unknown = 0.2\n')
    asked = ("--target", "approved", "--favorable", "yes", "--prediction", "decided", "--sensitive", "sex")
    for name in ("decided.csv", "decided"):
        page = tmp_path / f"{name}.html"
        run(tables / name, *asked, "--policy", tmp_path / "policy.toml", "--html", page)
    one, other = ((tmp_path / f"{name}.html").read_text() for name in ("decided.csv", "decided"))
    assert one.replace("decided.csv", "decided") == other


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--prediction", "score", "--threshold", 0.5), "`--threshold` needs rows in memory, and a folder is counted"),
        (("--prediction", "decided", "--weight", "score"), "`--weight` needs rows in memory, and a folder is counted"),
        (("--prediction", "decidd"), "There is no column 'decidd' in decided. Did you mean 'decided'"),
        (("--prediction", "decided", "--sep", ";"), "Folders hold Parquet files, which have no"),
        (("--prediction", "decided", "--by", "day:week"), "`--by` can cut dates by month, quarter or year"),
        (("--prediction", "decided", "--sensitive", "age"), "The sensitive column 'age' must name groups"),
    ],
)
def test_what_a_folder_cannot_do_is_refused_in_one_line(fails, tables, options, said):
    assert said in fails("audit", tables / "decided", "--sensitive", "sex", "--favorable", "yes", *options)


def test_scores_of_one_file_have_their_tables_still(tables):
    asked = ("--target", "approved", "--favorable", "yes", "--prediction", "score", "--threshold", 0.5)
    found = json.loads(run(tables / "decided.parquet", *asked, "--sensitive", "sex", "--json").stdout)
    assert found["auc"]


def test_too_many_kinds_of_rows_are_refused_by_the_name_of_the_column(tables, monkeypatch):
    monkeypatch.setattr(cells, "_MOST", 100)
    shards = merge_schemas("decided", open_shards(tables / "decided"), ignored=["more"])
    with pytest.raises(
        ValueError, match=r"at most 100 combinations: found more, and [0-9,]+ different values of 'score' alone"
    ):
        cells.count_cells(shards, ["sex", "score"], {}, {})


def test_cells_are_merged_as_they_come(tables, monkeypatch):
    monkeypatch.setattr(cells, "_MERGE", 3)
    monkeypatch.setattr(cells, "_BLOCK", 50)
    shards = merge_schemas("decided", open_shards(tables / "decided"), ignored=["more"])
    found = cells.count_cells(shards, ["sex", "branch"], {}, {}).to_pandas()
    expected = people().groupby(["sex", "branch"], dropna=False).size()
    assert found[cells.COUNT].sum() == ROWS
    found = found.set_index(["sex", "branch"])[cells.COUNT]
    for (sex, branch), count in expected.items():
        own = found[(found.index.get_level_values(0).isna() if sex != sex else found.index.get_level_values(0) == sex)]
        assert own.xs(branch, level=1).tolist() == [count]


PEAK = """
from pathlib import Path
from mamofair.cli import app
try:
    app(["audit", {!r}, "--prediction", "made", "--sensitive", "sex", "--notion", "dp", "--json"])
except SystemExit:
    pass
[line] = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")]
print(line.split()[1])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the peak of memory is read from /proc")
def test_memory_does_not_grow_with_the_rows(tmp_path):
    """A hundred times the rows, of which one column alone would take 160 MB as objects, take no more memory."""
    rng, peaks = np.random.default_rng(0), []
    for name, groups in (("small", 1), ("large", 100)):
        (tmp_path / name).mkdir()
        table = pa.table({"sex": rng.choice(["F", "M"], 40_000), "made": rng.integers(0, 2, 40_000)})
        with pq.ParquetWriter(tmp_path / name / "rows.parquet", table.schema) as writer:
            for _ in range(groups):
                writer.write_table(table)
        said = forked.run(exec, PEAK.format(str(tmp_path / name)), {}).stdout.splitlines()
        assert json.loads(said[-2])["rows"] == 40_000 * groups
        peaks.append(int(said[-1]) / 1e3)
    assert peaks[1] < peaks[0] + 60
