# SPDX-License-Identifier: Apache-2.0
"""What makes the JVMs of the tests quick: most live for seconds, which go into loading Spark.

With an archive of Spark's classes (class data sharing) and one compiler such a JVM computes for a
third of the time. The archive is made once for an installed PySpark and kept in `target`.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pyspark

FOLDER = Path(__file__).resolve().parents[2] / "target" / "quick-python"
HOME = Path(pyspark.__file__).parent
ONE_COMPILER = "-XX:TieredStopAtLevel=1"

# Does for a moment what tests do.
SESSION = """
from pyspark.sql import SparkSession
spark = (
    SparkSession.builder.master("local[1]").config("spark.ui.enabled", False)
    .config("spark.sql.shuffle.partitions", 2)
    .config("spark.sql.streaming.stateStore.providerClass",
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider")
    .getOrCreate()
)
spark.range(100).selectExpr("id % 7 AS k", "id AS v").write.parquet("rows")
rows = spark.read.parquet("rows")
rows.createOrReplaceTempView("rows")
spark.sql("SELECT k, sum(v), percentile(v, 0.5) FROM rows GROUP BY k ORDER BY k").collect()
rows.join(rows.groupBy("k").count(), "k").toPandas()
rows.groupBy("k").applyInPandas(lambda frame: frame.head(1), "k LONG, v LONG").collect()
stream = spark.readStream.schema("k LONG, v LONG").parquet("rows").groupBy("k").count()
(
    stream.writeStream.outputMode("update").trigger(availableNow=True)
    .option("checkpointLocation", "checkpoint").foreachBatch(lambda frame, _: frame.collect())
    .start().awaitTermination()
)
spark.stop()
"""


def options() -> str:
    """Options for a JVM of PySpark, as SPARK_SUBMIT_OPTS takes them."""
    archive = FOLDER / f"{fingerprint()}.jsa"
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (FOLDER / "lock").open("w") as lock:
        # Several processes may test side by side.
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not archive.exists():
            for other in FOLDER.glob("*.jsa"):
                other.unlink()
            make(archive)
    # Without the log a JVM whose class path differs would complain on its standard output.
    return f"{ONE_COMPILER} -XX:SharedArchiveFile={archive} -Xlog:disable"


def fingerprint() -> str:
    """Of the Spark and the Java that are used, and of what is done with them."""
    home = os.environ.get("JAVA_HOME")
    java = Path(home, "bin", "java") if home else Path(shutil.which("java") or os.devnull)
    stamps = [f"{path} {path.stat().st_mtime_ns}" for path in (HOME / "jars", java.resolve())]
    return hashlib.sha256("\n".join([*stamps, SESSION]).encode()).hexdigest()[:16]


def make(archive: Path) -> None:
    """Runs a session and has its classes archived when its JVM ends.

    An archive that cannot be made costs time, no test: whatever is wrong they will tell themselves.
    """
    fresh = archive.with_suffix(".fresh")
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "session.py")
        script.write_text(SESSION)
        plain = {k: v for k, v in os.environ.items() if not k.startswith(("SPARK_", "PYSPARK_"))}
        environment = plain | {
            "SPARK_HOME": str(HOME),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "PYSPARK_PYTHON": sys.executable,
            "SPARK_SUBMIT_OPTS": f"{ONE_COMPILER} -XX:ArchiveClassesAtExit={fresh}",
        }
        with contextlib.suppress(subprocess.TimeoutExpired):
            subprocess.run(
                [HOME / "bin" / "spark-submit", script],
                cwd=folder,
                env=environment,
                capture_output=True,
                check=False,
                timeout=240,
            )
    if fresh.exists():
        fresh.replace(archive)
