"""`audit_counts` on Spark; PySpark and its Java are large and no dependency: `pip install pyspark` to run this."""

import warnings

import pandas as pd
import pytest

from mamofair.metrics import audit, audit_counts

pyspark = pytest.importorskip(
    "pyspark", reason="Spark: PySpark is no dependency; `pip install pyspark` and Java run them"
)


def test_a_spark_frame_of_rows_gives_the_audit_of_the_rows():
    rows = [("F", 1, 1), ("F", 0, 1), ("M", 0, 0), (None, 1, 0), ("M", 1, 0)] * 100
    frame = pd.DataFrame(rows, columns=["sex", "y", "made"])
    expected = audit(frame["y"], frame["made"], sensitive_features=frame["sex"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Spark's own
        builder = pyspark.sql.SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
        session = builder.getOrCreate()
        native = session.createDataFrame(rows, schema="sex string, y long, made long")
        found = audit_counts(native, sensitive_features=["sex"], y_true="y", y_pred="made", count=None)
        session.stop()
    assert str(found) == str(expected)
    pd.testing.assert_frame_equal(found.frame(), expected.frame(), check_exact=True)
