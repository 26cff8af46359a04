# SPDX-License-Identifier: Apache-2.0
"""Runs the simulator, a Java program of its own: no Spark session is started."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from typing import Any

from evenkeel import errors, installation

MAIN_CLASS = "io.evenkeel.bench.Simulate"
INTERRUPTED = 130


def command(arguments: Sequence[str]) -> list[str]:
    """The Java call for these simulator arguments."""
    class_path = os.pathsep.join(str(entry) for entry in installation.simulator_class_path())
    return [str(installation.java()), "-cp", class_path, MAIN_CLASS, *arguments]


def run(arguments: Sequence[str]) -> int:
    """Runs it on the caller's terminal and returns its exit code."""
    try:
        with subprocess.Popen(command(arguments)) as child:
            return _exit_code(child)
    except KeyboardInterrupt:
        # It came before we could wait for Java.
        return INTERRUPTED


def _exit_code(child: subprocess.Popen[bytes]) -> int:
    interrupted = False
    while True:
        try:
            code = child.wait()
        except KeyboardInterrupt:
            # The terminal sent it to Java, too, but one that has hardly begun may have missed it.
            interrupted = True
            child.terminate()
        else:
            return INTERRUPTED if interrupted else code if code >= 0 else 128 - code


def results(arguments: Sequence[str]) -> list[dict[str, Any]]:
    """Runs it with `--json`; one dictionary per router. Progress stays on the error stream."""
    done = subprocess.run(
        command([*arguments, "--json"]), stdout=subprocess.PIPE, text=True, check=False
    )
    if done.returncode != 0:
        raise errors.simulation_failed(done.returncode)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
