# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

from own_process import run_python


def test_rows_clustered_on_a_hot_key_are_spread_before_the_python_step(
    root: Path, tmp_path: Path
) -> None:
    done = run_python(
        """
import evenkeel
from aggregates import FORMS
from pyspark.sql import functions as F

settings = {"spark.ui.enabled": False, "spark.sql.shuffle.partitions": 8,
            "spark.sql.adaptive.coalescePartitions.enabled": False}
spark = evenkeel.session(master="local[2]", conf=settings)
rows = spark.range(20000).selectExpr("if(id % 2 = 0, 0, id % 97) AS k", "id AS v")
plain = rows.groupBy("k").agg(
    F.count("v").alias("n"), F.avg("v").alias("mean"), (F.max("v") - F.min("v")).alias("spread")
)
clustered = evenkeel.aggregate(rows.repartition("k"), by="k", out=FORMS["arrow"]())
assert sorted(map(str, clustered.collect())) == sorted(map(str, plain.collect()))
assert any(d.routed for d in evenkeel.decisions(clustered)), evenkeel.decisions(clustered)
report = evenkeel.report(spark, last=1)[0]
assert report.rows == 20000 and report.imbalance < 0.2, report

as_it_comes = evenkeel.aggregate(rows, by="k", out=FORMS["arrow"]())
assert sorted(map(str, as_it_comes.collect())) == sorted(map(str, plain.collect()))
assert "BALANCED_INPUT" in [d.code for d in evenkeel.why_not(as_it_comes)]
print("all held")
""",
        tmp_path,
        PYTHONPATH=str(root / "tests" / "python"),
    )
    assert done.stdout.endswith("all held\n"), done.stdout + done.stderr
