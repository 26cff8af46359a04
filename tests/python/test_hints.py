# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

from own_process import run_python


def test_hints_reasons_errors_and_reports_in_a_classic_session(root: Path, tmp_path: Path) -> None:
    done = run_python(
        """
import evenkeel, hinted_queries

spark = evenkeel.session(master="local[2]", conf={"spark.ui.enabled": False})
hinted_queries.check_all(spark)
print("all held")
""",
        tmp_path,
        PYTHONPATH=str(root / "tests" / "python"),
    )
    assert done.stdout.endswith("all held\n"), done.stdout + done.stderr
    assert "unrecognized hint" not in (done.stdout + done.stderr).lower()


def test_decisions_without_the_extension_say_how_to_get_it(root: Path, tmp_path: Path) -> None:
    done = run_python(
        """
import evenkeel
from pyspark.sql import SparkSession

spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", False).getOrCreate()
try:
    evenkeel.why_not(spark.range(3))
except evenkeel.EvenkeelError as error:
    print(error.condition)
""",
        tmp_path,
        PYTHONPATH=str(root / "tests" / "python"),
    )
    assert done.stdout == "EVENKEEL_NO_EXPLANATION\n", done.stdout + done.stderr
