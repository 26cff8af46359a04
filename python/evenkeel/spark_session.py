# SPDX-License-Identifier: Apache-2.0
"""Starts Spark with Evenkeel, or says why that is not possible."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenkeel import errors, installation
from evenkeel.streaming import PROVIDER_KEY, provider_for

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EXTENSION = "io.evenkeel.EvenkeelExtensions"
JARS_KEY = "spark.jars"
EXTENSIONS_KEY = "spark.sql.extensions"


def session(
    *,
    app: str = "evenkeel",
    master: str | None = None,
    conf: Mapping[str, object] | None = None,
    streaming: bool = False,
) -> SparkSession:
    """A Spark session with Evenkeel; the running one if it already has it.

    Args:
        app: the name that Spark's UI shows.
        master: such as `local[4]`; by default what Spark itself is configured for.
        conf: further Spark settings.
        streaming: whether the state of streams may move between partitions (see `enable`).

    Example:
        >>> spark = evenkeel.session(app="orders")
        >>> spark.sql("SELECT evenkeel_version()").show()
    """
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName(app)
    if master is not None:
        builder = builder.master(master)
    for key, value in (conf or {}).items():
        builder = builder.config(key, str(value))
    spark = enable(builder, streaming=streaming).getOrCreate()
    if not _jvm_has_extension():
        raise errors.extension_not_loaded(installation.jar())
    return spark


def enable(builder: SparkSession.Builder, *, streaming: bool = False) -> SparkSession.Builder:
    """Adds the jar and the extension to whatever `builder` and spark-defaults.conf already name.

    With `streaming`, streams that are started for the first time keep their state in our form of
    the state store that the user chose (RocksDB or HDFS-backed, Spark's default otherwise), which
    lets Evenkeel move it between partitions. The files are the same; existing checkpoints keep
    their own until `evenkeel adopt`. Another provider is left alone, with a warning.

    Raises `EvenkeelError` where Spark would silently go on without them: when a session or a JVM
    without the jar is already there, for Spark Connect, and for a PySpark of another minor version.
    """
    import pyspark
    from pyspark.sql import SparkSession

    jar = installation.jar()
    built_for = installation.built_for_spark()
    if not pyspark.__version__.startswith(built_for + "."):
        raise errors.spark_minor_differs(pyspark.__version__, built_for)
    options: dict[str, Any] = builder._options
    if "spark.remote" in options or "SPARK_REMOTE" in os.environ:
        raise errors.connect_needs_server(jar)
    if _jvm_runs():
        if not _jvm_has_extension():
            if SparkSession.getActiveSession() is not None:
                raise errors.session_exists()
            raise errors.jvm_without_jar(jar)
    else:
        _refuse_overruling_arguments(jar)
        _append(builder, options, JARS_KEY, str(jar))
    _append(builder, options, EXTENSIONS_KEY, EXTENSION)
    if streaming:
        provider = provider_for(_chosen_provider(options))
        if provider is not None:
            builder.config(PROVIDER_KEY, provider)
    return builder


def _chosen_provider(options: dict[str, Any]) -> str | None:
    """What the user has chosen, nearest to the query first."""
    from pyspark import SparkConf
    from pyspark.sql import SparkSession

    if PROVIDER_KEY in options:
        return str(options[PROVIDER_KEY])
    running = SparkSession.getActiveSession()
    if running is not None:
        return running.conf.get(PROVIDER_KEY)
    if _jvm_runs():
        return SparkConf().get(PROVIDER_KEY)
    words = shlex.split(os.environ.get("PYSPARK_SUBMIT_ARGS", ""))
    given = [w.split("=", 1)[1] for w in words if w.startswith(f"{PROVIDER_KEY}=")]
    return given[-1] if given else _spark_defaults().get(PROVIDER_KEY)


def _append(
    builder: SparkSession.Builder, options: dict[str, Any], key: str, addition: str
) -> None:
    present = str(options.get(key) or _spark_defaults().get(key, ""))
    entries = [entry.strip() for entry in present.split(",") if entry.strip()]
    if addition not in entries:
        entries.append(addition)
    builder.config(key, ",".join(entries))


def _spark_defaults() -> dict[str, str]:
    """spark-defaults.conf, because a value on the builder hides the one in the file."""
    home = os.environ.get("SPARK_HOME") or str(installation.pyspark_jars().parent)
    file = Path(os.environ.get("SPARK_CONF_DIR") or Path(home, "conf"), "spark-defaults.conf")
    if not file.is_file():
        return {}
    lines = (line.strip() for line in file.read_text().splitlines())
    pairs = (
        line.replace("=", " ", 1).split(None, 1) for line in lines if line[:1] not in ("", "#")
    )
    return {pair[0]: pair[1].strip() for pair in pairs if len(pair) == 2}


def _refuse_overruling_arguments(jar: Path) -> None:
    words = shlex.split(os.environ.get("PYSPARK_SUBMIT_ARGS", ""))
    for word in words:
        option = word.split("=", 1)[0]
        names_us = any(EXTENSION in w or jar.name in w for w in words)
        if option in ("--jars", JARS_KEY, EXTENSIONS_KEY) and not names_us:
            raise errors.submit_arguments_overrule(option, jar)


def _jvm_runs() -> bool:
    from pyspark import SparkContext

    # Under spark-submit the JVM is there before Python; connecting to it starts nothing.
    if SparkContext._gateway is None and "PYSPARK_GATEWAY_PORT" in os.environ:
        SparkContext._ensure_initialized()
    return SparkContext._gateway is not None


def _jvm_has_extension() -> bool:
    from py4j.protocol import Py4JJavaError
    from pyspark import SparkContext

    jvm: Any = SparkContext._jvm
    try:
        jvm.java.lang.Thread.currentThread().getContextClassLoader().loadClass(EXTENSION)
    except Py4JJavaError:
        return False
    return True
