"""The lines of docs/scale.md that apply a model in other engines: the same decisions as in one frame."""

import sys
import warnings

import numpy as np
import pandas as pd
import pytest

import mamofair
from mamofair import FairPlugInClassifier
from mamofair.tables import encoder

ROWS = 400


def people(seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    job = pd.Series(rng.choice(["clerk", "nurse", "cook"], ROWS), dtype="str").mask(rng.random(ROWS) < 0.1)
    return pd.DataFrame({"income": rng.normal(size=ROWS), "job": job})


@pytest.fixture(scope="module")
def new(tmp_path_factory):
    """A saved model, and a folder of new rows in two files."""
    folder, table, rng = tmp_path_factory.mktemp("engines"), people(0), np.random.default_rng(1)
    hired = np.where(table["income"] + (table["job"] == "nurse") + rng.normal(size=ROWS) > 0.5, "yes", "no")
    types = encoder("none").fit(table)
    model = FairPlugInClassifier(effort="fast", favorable="yes", max_points=5, random_state=0)
    model.fit(types.transform(table), hired, sensitive_features=rng.choice(["f", "m"], ROWS))
    mamofair.save(model.with_encoder(types), folder / "run")
    (folder / "new").mkdir()
    for i in (1, 2):
        people(i).to_parquet(folder / "new" / f"{i}.parquet", index=False, row_group_size=150)
    return folder


def expected(new) -> list[str]:
    return mamofair.load(new / "run").predict(pd.concat([people(1), people(2)], ignore_index=True)).tolist()


def test_polars_streams_rows_through_a_model(new):
    polars = pytest.importorskip("polars")
    model, rows = mamofair.load(new / "run"), polars.scan_parquet(new / "new" / "*.parquet")
    schema = {**rows.collect_schema(), "prediction": polars.String}
    decide = lambda frame: frame.with_columns(prediction=model.predict(frame))  # noqa: E731
    rows.map_batches(decide, streamable=True, schema=schema).sink_parquet(new / "polars.parquet")
    assert pd.read_parquet(new / "polars.parquet")["prediction"].tolist() == expected(new)


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # of pandas 3.1, about a call of Dask's own
def test_dask_maps_a_model_over_partitions(new):
    dataframe = pytest.importorskip("dask.dataframe")
    model, rows = mamofair.load(new / "run"), dataframe.read_parquet(new / "new", split_row_groups=True)
    decide = lambda frame: frame.assign(prediction=model.predict(frame))  # noqa: E731
    decided = rows.map_partitions(decide, meta=decide(rows.head())[:0]).compute(scheduler="synchronous")
    assert rows.npartitions > 2
    assert decided["prediction"].tolist() == expected(new)


def test_spark_maps_a_model_over_arrow_batches(new, monkeypatch):
    """PySpark and its Java are large and no dependency: `pip install pyspark` to run this."""
    pyspark = pytest.importorskip(
        "pyspark.sql", reason="Spark: PySpark is no dependency; `pip install pyspark` and Java run them"
    )
    pyarrow = pytest.importorskip("pyarrow")
    run = str(new / "run")
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)  # workers take `python3` from the path, which may be another

    def decide(batches):
        model = mamofair.load(run)
        for batch in batches:
            yield batch.append_column("prediction", pyarrow.array(model.predict(batch.to_pandas()), pyarrow.string()))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Spark's own
        builder = pyspark.SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
        spark = builder.getOrCreate()
        rows = spark.read.parquet(str(new / "new"))
        schema = rows.selectExpr("*", "'' AS prediction").schema
        rows.mapInArrow(decide, schema).write.parquet(str(new / "spark"))
        spark.stop()
    columns = ["income", "job", "prediction"]
    decided = pd.read_parquet(new / "spark")[columns].sort_values("income", ignore_index=True)
    table = pd.concat([people(1), people(2)], ignore_index=True).assign(prediction=expected(new))
    pd.testing.assert_frame_equal(decided, table.sort_values("income", ignore_index=True), check_dtype=False)
