# SPDX-License-Identifier: Apache-2.0
"""The wheel as a user gets it: in an environment of its own, far from the clone."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

import evenkeel
from own_process import run_python


@pytest.fixture(scope="module")
def wheel(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out)]
    subprocess.run([*command, str(root)], check=True, capture_output=True)
    return next(out.glob("*.whl"))


@pytest.fixture(scope="module")
def clean_python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A new environment with the wheel; PySpark and the rest are borrowed to save half a GB."""
    home = tmp_path_factory.mktemp("clean")
    venv.create(home, with_pip=False)
    python = str(home / "bin" / "python")
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index"]
    subprocess.run([*pip, str(wheel)], check=True, capture_output=True)
    site = next(home.glob("lib/python*/site-packages"))
    (site / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return python


def test_the_wheel_carries_both_jars_the_licence_and_the_type_marker(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    jars = [name for name in names if name.startswith("evenkeel/jars/")]
    assert sorted(Path(jar).name.split("_")[0] for jar in jars) == [
        "evenkeel-bench",
        "evenkeel-spark",
    ]
    assert all(evenkeel.__version__ in jar for jar in jars)
    assert "evenkeel/py.typed" in names
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_the_extension_jar_holds_our_classes_and_no_one_elses() -> None:
    names = zipfile.ZipFile(evenkeel.jar()).namelist()
    classes = [name for name in names if name.endswith(".class")]
    assert classes
    # Spark's private classes can be used only from a package below its own.
    ours = ("io/evenkeel/", "org/apache/spark/sql/evenkeel/")
    assert all(name.startswith(ours) for name in classes)
    assert "META-INF/services/org.apache.spark.sql.SparkSessionExtensionsProvider" in names


def test_the_wheel_loads_the_extension_in_a_clean_environment(
    clean_python: str, tmp_path: Path
) -> None:
    done = run_python(
        """
import evenkeel
spark = evenkeel.session(app="wheel", master="local[1]", conf={"spark.ui.enabled": False})
print(evenkeel.__file__)
print(spark.sql("SELECT evenkeel_version()").first()[0])
""",
        tmp_path,
        python=clean_python,
    )
    assert done.returncode == 0, done.stderr
    file, version = done.stdout.splitlines()[-2:]
    assert Path(file).is_relative_to(Path(clean_python).parents[1])
    assert version == evenkeel.__version__


def test_the_jar_alone_is_enough_for_plain_spark(tmp_path: Path) -> None:
    done = run_python(
        f"""
from pyspark.sql import SparkSession
spark = (SparkSession.builder.master("local[1]").config("spark.ui.enabled", False)
    .config("spark.jars", {str(evenkeel.jar())!r}).getOrCreate())
print(spark.sql("SELECT evenkeel_version()").first()[0])
""",
        tmp_path,
    )
    assert done.stdout.split() == [evenkeel.__version__], done.stderr


def test_a_wheel_without_jars_is_refused_with_the_command_to_run(
    root: Path, tmp_path: Path
) -> None:
    for name in ("pyproject.toml", "README.md", "LICENSE", "tools/wheel_jars.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text((root / name).read_text())
    (tmp_path / "python" / "evenkeel").mkdir(parents=True)
    (tmp_path / "python" / "evenkeel" / "__init__.py").touch()
    done = subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert "Run `make build` first" in done.stdout + done.stderr
