# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import subprocess
import warnings
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import evenkeel
from evenkeel.errors import EvenkeelError
from evenkeel.streaming import PROVIDER_KEY, PROVIDERS, SPARK_DEFAULT
from own_process import run_python
from test_cli import evenkeel_command

ROCKS = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


@pytest.fixture
def builder(monkeypatch: pytest.MonkeyPatch) -> SparkSession.Builder:
    for name in ("SPARK_REMOTE", "PYSPARK_SUBMIT_ARGS", "SPARK_CONF_DIR", "SPARK_HOME"):
        monkeypatch.delenv(name, raising=False)
    return SparkSession.Builder()


def test_without_streaming_the_state_store_is_untouched(builder: SparkSession.Builder) -> None:
    evenkeel.enable(builder)
    assert PROVIDER_KEY not in builder._options


def test_streaming_takes_our_form_of_sparks_default(builder: SparkSession.Builder) -> None:
    evenkeel.enable(builder, streaming=True)
    assert builder._options[PROVIDER_KEY] == PROVIDERS[SPARK_DEFAULT]


def test_streaming_takes_our_form_of_what_the_builder_names(builder: SparkSession.Builder) -> None:
    evenkeel.enable(builder.config(PROVIDER_KEY, ROCKS), streaming=True)
    assert builder._options[PROVIDER_KEY] == PROVIDERS[ROCKS]
    evenkeel.enable(builder, streaming=True)
    assert builder._options[PROVIDER_KEY] == PROVIDERS[ROCKS]


def test_streaming_takes_our_form_of_what_spark_defaults_name(
    builder: SparkSession.Builder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "spark-defaults.conf").write_text(f"{PROVIDER_KEY} {ROCKS}\n")
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    evenkeel.enable(builder, streaming=True)
    assert builder._options[PROVIDER_KEY] == PROVIDERS[ROCKS]


def test_streaming_takes_our_form_of_what_submit_arguments_name(
    builder: SparkSession.Builder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", f"--conf {PROVIDER_KEY}={ROCKS} pyspark-shell")
    evenkeel.enable(builder, streaming=True)
    assert builder._options[PROVIDER_KEY] == PROVIDERS[ROCKS]


def test_a_strangers_state_store_is_left_alone_with_a_reason(
    builder: SparkSession.Builder,
) -> None:
    builder.config(PROVIDER_KEY, "com.example.Store")
    with pytest.warns(UserWarning, match=r"com\.example\.Store, which Evenkeel does not know"):
        evenkeel.enable(builder, streaming=True)
    assert builder._options[PROVIDER_KEY] == "com.example.Store"


def test_a_known_state_store_warns_of_nothing(builder: SparkSession.Builder) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        evenkeel.enable(builder, streaming=True)


def test_a_refusal_of_the_jvm_ends_in_its_remedy() -> None:
    error = EvenkeelError.told("EVENKEEL_X", "/a.b is odd. It is used. Stop the query.")
    assert (error.problem, error.remedy) == ("/a.b is odd. It is used.", "Stop the query.")


STREAM = """
import sys, evenkeel
from pyspark.sql import functions as f

folder, streaming = sys.argv[1], sys.argv[2] == "ours"
spark = evenkeel.session(
    app="stream", master="local[2]", streaming=streaming,
    conf={"spark.ui.enabled": False, "spark.sql.shuffle.partitions": 4, "spark.log.level": "ERROR"},
)
if len(sys.argv) > 3:
    spark.range(3000).selectExpr("id % 7 AS k").write.mode("append").parquet(f"{folder}/in")
query = (
    spark.readStream.schema("k LONG").parquet(f"{folder}/in").groupBy("k").count()
    .writeStream.outputMode("complete").format("memory").queryName("counts")
    .option("checkpointLocation", f"{folder}/checkpoint").trigger(availableNow=True).start()
)
query.awaitTermination()
print(sorted((r["k"], r["count"]) for r in spark.table("counts").collect()))
"""


def run_stream(folder: Path, *arguments: str) -> str:
    script = f"import sys; sys.argv = {['x', str(folder), *arguments]!r}\n{STREAM}"
    done = run_python(script, folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_plain_checkpoint_is_adopted_and_released_from_the_command_line(tmp_path: Path) -> None:
    counts = [(k, 3000 // 7 + (1 if k < 3000 % 7 else 0)) for k in range(7)]
    assert run_stream(tmp_path, "plain", "more") == f"{counts}\n"
    checkpoint = tmp_path / "checkpoint"
    latest = checkpoint / "offsets" / "0"
    assert SPARK_DEFAULT in latest.read_text()

    done = evenkeel_command("adopt", str(checkpoint), "--settle", "0")
    assert done.returncode == 0, done.stderr
    assert "HDFSBackedMigratingStateStoreProvider" in done.stdout
    assert PROVIDERS[SPARK_DEFAULT] in latest.read_text()
    assert (checkpoint / "evenkeel" / "backup" / "offsets-0-1").exists()

    twice = [(k, 2 * n) for k, n in counts]
    assert run_stream(tmp_path, "ours", "more") == f"{twice}\n"
    shown = evenkeel_command("routing", str(checkpoint))
    assert shown.returncode == 0, shown.stderr
    assert "plain hashing" in shown.stdout

    done = evenkeel_command("release", str(checkpoint), "--settle", "0")
    assert done.returncode == 0, done.stderr
    assert SPARK_DEFAULT in (checkpoint / "offsets" / "1").read_text()
    again = evenkeel_command("release", str(checkpoint), "--settle", "0")
    assert "Nothing to do" in again.stdout
    thrice = [(k, 3 * n) for k, n in counts]
    assert run_stream(tmp_path, "plain", "more") == f"{thrice}\n"


@pytest.mark.parametrize("command", [("adopt", "--settle", "0"), ("routing",)])
def test_a_refusal_is_one_sentence_and_exit_code_2(
    command: tuple[str, ...], tmp_path: Path
) -> None:
    done = evenkeel_command(*command, str(tmp_path))
    assert done.returncode == 2
    assert "Give the query's checkpointLocation." in done.stderr
    assert "Traceback" not in done.stderr


def test_the_routing_log_is_rows_for_people_and_programs(tmp_path: Path) -> None:
    done = run_python(
        f"""
import evenkeel
spark = evenkeel.session(app="log", master="local[1]", conf={{"spark.ui.enabled": False}})
jvm = spark._jvm
ledger = jvm.org.apache.spark.sql.evenkeel.state.ledger
table = jvm.io.evenkeel.core.table.RoutingTable.plain(4, 2)
nothing = jvm.org.apache.spark.api.python.PythonUtils.toSeq(jvm.java.util.ArrayList())
none = jvm.scala.Option.apply(None)
epoch = ledger.RoutingEpoch(3, 0, table, nothing, "released: back to plain hashing", 0.25, none)
path = jvm.org.apache.hadoop.fs.Path({str(tmp_path)!r})
log = ledger.RoutingLedger(path, 0, jvm.org.apache.hadoop.conf.Configuration())
log.write(epoch)
log.writeMoved(3, ledger.MovedState(1000, 250, 12))
row = evenkeel.routing(spark, {str(tmp_path)!r}).collect()[0]
assert (row.batch, row.plain, row.moved_rows, row.partitions) == (3, True, 250, 4), row
""",
        tmp_path,
    )
    assert done.returncode == 0, done.stderr
    shown = evenkeel_command("routing", str(tmp_path))
    assert "back to plain hashing" in shown.stdout, shown.stderr
    assert "250 (25.0% forecast)" in shown.stdout
    told = json.loads(evenkeel_command("routing", str(tmp_path), "--json").stdout)
    assert told["operator"] == 0
    assert told["moved_share"] == 0.25


MOVING = """
import sys, evenkeel
from pyspark.sql import SparkSession
from evenkeel.installation import jar

folder, how = sys.argv[1], sys.argv[2]
conf = {
    "spark.ui.enabled": False, "spark.sql.shuffle.partitions": 4, "spark.log.level": "OFF",
    "spark.evenkeel.streaming.minSampledRows": 1000,
    "spark.evenkeel.streaming.minIntervalBatches": 1,
}
if how == "ours":
    spark = evenkeel.session(app="stream", master="local[2]", streaming=True, conf=conf)
    heavy = spark.range(1000).where("pmod(hash(id), 4) = 2").limit(4).selectExpr("collect_list(id)")
    heavy = heavy.collect()[0][0]
    key = f"IF(id % 2 = 0, array({', '.join(map(str, heavy))})[id % 4], 1000 + id)"
    for part in range(4):
        spark.range(3000).selectExpr(f"CAST({key} AS LONG) AS k").coalesce(1).write.mode(
            "append").parquet(f"{folder}/in")
else:
    # Plain Spark, at most with the jar beside it.
    builder = SparkSession.builder.master("local[2]").config(map=conf)
    if how == "jar":
        builder.config("spark.jars", str(jar()))
    spark = builder.getOrCreate()
    spark.range(10).selectExpr("id AS k").write.mode("append").parquet(f"{folder}/in")
query = (
    spark.readStream.schema("k LONG").option("maxFilesPerTrigger", 1).parquet(f"{folder}/in")
    .groupBy("k").count().writeStream.outputMode("complete").format("memory").queryName("counts")
    .option("checkpointLocation", f"{folder}/checkpoint").trigger(availableNow=True).start()
)
query.awaitTermination()
if how == "ours":
    epochs = evenkeel.routing(spark, f"{folder}/checkpoint").collect()
    assert epochs and not epochs[-1].plain and epochs[0].moved_rows > 0, epochs
    figures = [p.stateOperators[0].customMetrics for p in query.recentProgress]
    assert max(int(f["evenkeelStateRowsMoved"]) for f in figures) > 0, figures
    reasons = [p.observedMetrics["evenkeel.0"] for p in query.recentProgress]
    assert {"plain", "adopted"} <= {r["outcome"] for r in reasons}, reasons
"""


def test_a_stream_that_has_moved_stops_without_the_jar_and_goes_on_with_it_alone(
    tmp_path: Path,
) -> None:
    def run(how: str) -> subprocess.CompletedProcess[str]:
        return run_python(
            f"import sys; sys.argv = {['x', str(tmp_path), how]!r}\n{MOVING}", tmp_path
        )

    done = run("ours")
    assert done.returncode == 0, done.stderr
    state = sorted(str(p) for p in (tmp_path / "checkpoint" / "state").rglob("*.delta"))

    without_jar = run("nothing")
    assert without_jar.returncode != 0
    # The text of a ClassNotFoundException is the name of the class.
    reason = without_jar.stderr.split("terminated with exception: ")[-1].split(" SQLSTATE")[0]
    assert reason == PROVIDERS[SPARK_DEFAULT], reason

    assert state == sorted(str(p) for p in (tmp_path / "checkpoint" / "state").rglob("*.delta"))

    # The jar's service file brings the extension along.
    with_jar = run("jar")
    assert with_jar.returncode == 0, with_jar.stderr
