# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

from own_process import run_python


def test_over_a_real_connect_server_the_result_is_that_of_group_by(
    root: Path, tmp_path: Path
) -> None:
    done = run_python(
        """
import evenkeel
from aggregates import FORMS
from pyspark.errors import PythonException
from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.remote("local[2]").getOrCreate()
assert "connect" in type(spark).__module__, type(spark)
spark.conf.set("spark.sql.shuffle.partitions", "4")
df = spark.range(600).selectExpr(
    "named_struct('a', nullif(id % 3, 1)) s", "double(nullif(id % 5, 2)) d", "id v"
)
plain = df.groupBy("s", "d").agg(
    F.count("v").alias("n"), F.avg("v").alias("mean"), (F.max("v") - F.min("v")).alias("spread")
)
for name, form in FORMS.items():
    got = evenkeel.aggregate(df, by=["s", "d"], out=form())
    assert sorted(map(str, got.collect())) == sorted(map(str, plain.collect())), name

hinted = evenkeel.aggregate(df, by="d", out=FORMS["arrow"](), route="pkg")
text = str(hinted._plan.to_proto(spark.client))
assert 'name: "route"' in text and 'string: "pkg"' in text, text
left_alone = evenkeel.aggregate(df, by="d", out=FORMS["arrow"]())
assert 'name: "route"' not in str(left_alone._plan.to_proto(spark.client))

broken = evenkeel.aggregator(
    partial=FORMS["pandas"]().partial, merge=lambda states: states, state=FORMS["pandas"]().state
)
try:
    evenkeel.aggregate(df.repartition(3), by="d", out=broken).collect()
except PythonException as error:
    print("EVENKEEL_AGGREGATOR_KEY_TWICE" in str(error) and "for the key d=" in str(error))
""",
        tmp_path,
        PYTHONPATH=str(root / "tests" / "python"),
    )
    assert done.stdout == "True\n", done.stdout + done.stderr
