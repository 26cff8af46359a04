# SPDX-License-Identifier: Apache-2.0
"""All that starts a Connect server: servers share a port, and a file's tests come one by one."""

from __future__ import annotations

from pathlib import Path

from own_process import run_python


def test_hints_reasons_errors_and_reports_over_a_real_connect_server(
    root: Path, tmp_path: Path
) -> None:
    done = run_python(
        """
import evenkeel, hinted_queries
from pyspark.sql import SparkSession

# Starts a Connect server in a JVM of its own, with the jar: what an administrator does.
builder = SparkSession.builder.remote("local[2]").config("spark.jars", str(evenkeel.jar()))
spark = builder.getOrCreate()
assert "connect" in type(spark).__module__, type(spark)
hinted_queries.check_all(spark)
# Another client of the same server does not see what this one routed.
other = spark.cloneSession()
assert evenkeel.report(spark) and evenkeel.report(other) == []
hinted_queries.check_report(other)
assert len(evenkeel.report(other)) == 1
# While the server is there: at exit it goes first.
other.client.close()
print("all held")
""",
        tmp_path,
        PYTHONPATH=str(root / "tests" / "python"),
    )
    assert done.stdout.endswith("all held\n"), done.stdout + done.stderr
    assert "unrecognized hint" not in (done.stdout + done.stderr).lower()


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


def test_over_a_connect_server_with_the_extension_clustered_rows_are_routed(
    root: Path, tmp_path: Path
) -> None:
    done = run_python(
        """
import evenkeel
from aggregates import FORMS
from pyspark.sql import SparkSession, functions as F

builder = SparkSession.builder.remote("local[2]").config("spark.jars", str(evenkeel.jar()))
spark = builder.getOrCreate()
assert "connect" in type(spark).__module__, type(spark)
spark.conf.set("spark.sql.shuffle.partitions", "4")
spark.conf.set("spark.sql.adaptive.coalescePartitions.enabled", "false")
rows = spark.range(4000).selectExpr("if(id % 2 = 0, 0, id % 97) AS k", "id AS v")
plain = rows.groupBy("k").agg(
    F.count("v").alias("n"), F.avg("v").alias("mean"), (F.max("v") - F.min("v")).alias("spread")
)
expected = sorted(map(str, plain.collect()))

def exchanges(df):
    return [d.text for d in evenkeel.decisions(df) if d.routed]

# Forced on rows as they come, by the plan's own choice where they are clustered on the key.
cases = {
    "asked": (rows, "pkg(d=3)", "pkg(d=3)"),
    "clustered": (rows.repartition("k"), None, "keel"),
}
for form in ("pandas", "arrow"):
    for case, (df, route, router) in cases.items():
        routed = evenkeel.aggregate(df, by="k", out=FORMS[form](), route=route)
        assert 'name: "route"' in str(routed._plan.to_proto(spark.client)), (form, case)
        (text,) = exchanges(routed)
        assert f"routed by {router}," in text, text
        before = len(evenkeel.report(spark))
        assert sorted(map(str, routed.collect())) == expected, (form, case)
        (last,) = evenkeel.report(spark, last=1)
        assert len(evenkeel.report(spark)) == before + 1, (form, case)
        assert last.rows == 4000 and last.router.startswith(router[:3]), last
        left_out = evenkeel.aggregate(df, by="k", out=FORMS[form](), route=False)
        assert exchanges(left_out) == [], (form, case)
        assert sorted(map(str, left_out.collect())) == expected, (form, case)
print("all held")
""",
        tmp_path,
        PYTHONPATH=str(root / "tests" / "python"),
    )
    assert done.stdout.endswith("all held\n"), done.stdout + done.stderr
    assert "unrecognized hint" not in (done.stdout + done.stderr).lower()
