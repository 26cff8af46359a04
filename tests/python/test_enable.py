# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import evenkeel
from evenkeel import installation
from evenkeel.spark_session import EXTENSION
from own_process import run_python


@pytest.fixture
def builder(monkeypatch: pytest.MonkeyPatch) -> SparkSession.Builder:
    for name in ("SPARK_REMOTE", "PYSPARK_SUBMIT_ARGS", "SPARK_CONF_DIR", "SPARK_HOME"):
        monkeypatch.delenv(name, raising=False)
    return SparkSession.Builder()


def test_enable_adds_jar_and_extension(builder: SparkSession.Builder) -> None:
    evenkeel.enable(builder)
    assert builder._options["spark.jars"] == str(evenkeel.jar())
    assert builder._options["spark.sql.extensions"] == EXTENSION


def test_enable_keeps_what_is_on_the_builder(builder: SparkSession.Builder) -> None:
    builder.config("spark.jars", "/a.jar, /b.jar").config("spark.sql.extensions", "org.Other")
    evenkeel.enable(builder)
    assert builder._options["spark.jars"] == f"/a.jar,/b.jar,{evenkeel.jar()}"
    assert builder._options["spark.sql.extensions"] == f"org.Other,{EXTENSION}"


def test_enable_keeps_what_is_in_spark_defaults(
    builder: SparkSession.Builder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "spark-defaults.conf").write_text(
        "# ours\nspark.jars /a.jar\nspark.sql.extensions=org.Other\n\nspark.ui.enabled false\n"
    )
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    evenkeel.enable(builder)
    assert builder._options["spark.jars"] == f"/a.jar,{evenkeel.jar()}"
    assert builder._options["spark.sql.extensions"] == f"org.Other,{EXTENSION}"


def test_enable_twice_adds_once(builder: SparkSession.Builder) -> None:
    evenkeel.enable(evenkeel.enable(builder))
    assert builder._options["spark.jars"] == str(evenkeel.jar())
    assert builder._options["spark.sql.extensions"] == EXTENSION


@pytest.mark.parametrize(
    "arguments",
    [
        "--jars /a.jar pyspark-shell",
        "--jars=/a.jar pyspark-shell",
        "--conf spark.jars=/a.jar pyspark-shell",
        "--conf spark.sql.extensions=org.Other pyspark-shell",
    ],
)
def test_enable_refuses_submit_arguments_that_would_overrule_it(
    arguments: str, builder: SparkSession.Builder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", arguments)
    with pytest.raises(evenkeel.EvenkeelError, match="EVENKEEL_SUBMIT_ARGUMENTS_OVERRULE"):
        evenkeel.enable(builder)


def test_enable_accepts_submit_arguments_that_name_evenkeel(
    builder: SparkSession.Builder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", f"--jars /a.jar,{evenkeel.jar()} pyspark-shell")
    evenkeel.enable(builder)


def test_enable_refuses_spark_connect(builder: SparkSession.Builder) -> None:
    with pytest.raises(evenkeel.EvenkeelError, match="Start the server with"):
        evenkeel.enable(builder.remote("sc://localhost"))


def test_enable_refuses_another_spark_minor(
    builder: SparkSession.Builder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pyspark.__version__", "4.1.3")
    with pytest.raises(
        evenkeel.EvenkeelError, match=r"built for Spark 4\.2, but PySpark is 4\.1\.3"
    ):
        evenkeel.enable(builder)


def test_a_missing_jar_names_the_command(
    builder: SparkSession.Builder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(installation, "JARS", tmp_path)
    with pytest.raises(evenkeel.EvenkeelError, match="make build"):
        evenkeel.enable(builder)


def test_a_session_has_the_version_of_the_package_and_other_extensions_stay(tmp_path: Path) -> None:
    done = run_python(
        """
import evenkeel, pyspark
spark = evenkeel.session(app="versions", master="local[1]", conf={"spark.ui.enabled": False})
loaded = spark.sql("SELECT evenkeel_version()").first()[0]
assert loaded == evenkeel.__version__, loaded
built_for = spark._jvm.io.evenkeel.BuildInfo.sparkVersion()
assert built_for == pyspark.__version__ == spark.version, (built_for, pyspark.__version__)
assert spark.range(10).groupBy("id").count().count() == 10
assert evenkeel.session() is spark or evenkeel.session().sparkContext is spark.sparkContext
spark.stop()
again = evenkeel.session(app="again", master="local[1]", conf={"spark.ui.enabled": False})
assert again.sql("SELECT evenkeel_version()").first()[0] == evenkeel.__version__
print("all well")
""",
        tmp_path,
    )
    assert done.stdout.endswith("all well\n"), done.stderr


def test_a_running_session_without_evenkeel_is_refused_even_after_its_end(tmp_path: Path) -> None:
    done = run_python(
        """
import evenkeel
from pyspark.sql import SparkSession
plain = SparkSession.builder.master("local[1]").config("spark.ui.enabled", False).getOrCreate()
for state in ("running", "stopped"):
    try:
        evenkeel.session()
        print(state, "accepted")
    except evenkeel.EvenkeelError as error:
        print(state, error.condition)
    plain.stop()
""",
        tmp_path,
    )
    assert done.stdout.splitlines() == [
        "running EVENKEEL_SESSION_EXISTS",
        "stopped EVENKEEL_JVM_WITHOUT_JAR",
    ], done.stderr
