# SPDX-License-Identifier: Apache-2.0
"""What is installed on this machine and where: our jars, PySpark's jars, Java."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
from importlib.metadata import version as installed_version
from pathlib import Path

from evenkeel import errors

VERSION = installed_version("evenkeel")
JARS = Path(__file__).parent / "jars"
JAVA_NEEDED = 17


def jar(part: str = "spark") -> Path:
    """The jar of this version: `spark` is the extension, `bench` the simulator."""
    found = sorted(JARS.glob(f"evenkeel-{part}_*-{VERSION}.jar"))
    if not found:
        raise errors.jar_missing(part, JARS)
    return found[-1]


def built_for_spark() -> str:
    """The Spark minor version, such as 4.2, that the jar's name carries."""
    return jar().name.split("_")[1]


def pyspark_jars() -> Path:
    """PySpark's folder of jars, found without the cost of importing PySpark."""
    spec = importlib.util.find_spec("pyspark")
    if spec is None or spec.origin is None or not Path(spec.origin).with_name("jars").is_dir():
        raise errors.pyspark_missing()
    return Path(spec.origin).with_name("jars")


def simulator_class_path() -> list[Path]:
    """Our two jars and the two libraries that Spark brings along for them."""
    theirs = pyspark_jars()
    libraries = [*theirs.glob("scala-library-2.13*.jar"), *theirs.glob("datasketches-*.jar")]
    return [jar("bench"), jar("spark"), *sorted(libraries)]


def java() -> Path:
    """Java as Spark's own launcher chooses it: JAVA_HOME first, then the PATH."""
    home = os.environ.get("JAVA_HOME")
    found = shutil.which("java", path=str(Path(home, "bin")) if home else None)
    if found is None:
        raise errors.java_missing(_java_place())
    return Path(found)


def java_version() -> int:
    """The feature version, such as 17, of a Java that is new enough."""
    try:
        # Java writes its version to the error stream.
        told = subprocess.run([java(), "-version"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise errors.java_missing(_java_place()) from error
    match = re.search(r'version "(?:1\.)?(\d+)', told.stderr)
    if match is None:
        raise errors.java_missing(_java_place())
    version = int(match.group(1))
    if version < JAVA_NEEDED:
        raise errors.java_too_old(version, _java_place())
    return version


def _java_place() -> str:
    home = os.environ.get("JAVA_HOME")
    return f"JAVA_HOME ({home})" if home else "the PATH"
