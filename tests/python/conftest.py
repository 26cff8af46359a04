# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark import SparkContext
from pyspark.sql import SparkSession

import quick_jvm


@pytest.fixture(scope="session")
def root() -> Path:
    """The clone."""
    return Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session", autouse=True)
def quick_jvms() -> None:
    """For all JVMs of the tests, those of other processes included."""
    os.environ["SPARK_SUBMIT_OPTS"] = quick_jvm.options()


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    """Plain Spark, without our jar; its JVM ends with the module, for tests that need none."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("SPARK_REMOTE", "PYSPARK_SUBMIT_ARGS", "SPARK_CONF_DIR", "SPARK_HOME"):
            patch.delenv(name, raising=False)
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", False)
        session = builder.config("spark.sql.shuffle.partitions", 4).getOrCreate()
        try:
            yield session
        finally:
            session.stop()
            gateway: Any = SparkContext._gateway
            gateway.shutdown()
            gateway.proc.stdin.close()
            gateway.proc.wait(timeout=60)
            SparkContext._gateway = SparkContext._jvm = None
