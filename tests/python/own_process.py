# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def run_python(
    script: str, folder: Path, *, python: str = sys.executable, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Runs a script in a Python of its own: a JVM, once started, is there for a whole process."""
    # Settings of the developer's own Spark must not decide a test.
    ours = {
        k: v
        for k, v in os.environ.items()
        if not k.startswith(("SPARK_", "PYSPARK_")) or k == "SPARK_SUBMIT_OPTS"
    }
    # A second work tree tests its own package: the caller's path stays behind the test's.
    paths = [environment.get("PYTHONPATH"), ours.get("PYTHONPATH")]
    if any(paths):
        environment["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)
    return subprocess.run(
        [python, "-c", script],
        cwd=folder,
        # Spark's workers would be the first python3 on the PATH, which has no pyarrow.
        env=ours | {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": python} | environment,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
