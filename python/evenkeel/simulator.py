# SPDX-License-Identifier: Apache-2.0
"""Runs the simulator, a Java program of its own: no Spark session is started."""

from __future__ import annotations

import json
import os
import signal
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
    child: subprocess.Popen[bytes] | None = None
    interrupted = False

    def interrupt(*_: object) -> None:
        nonlocal interrupted
        interrupted = True
        if child:
            child.terminate()

    # The terminal interrupts Java as well, but one that is only being started misses that, and an
    # exception just then would leave it behind.
    before = signal.signal(signal.SIGINT, interrupt)
    try:
        child = subprocess.Popen(command(arguments))
        if interrupted:
            child.terminate()
        code = child.wait()
    finally:
        signal.signal(signal.SIGINT, before)
    return INTERRUPTED if interrupted else code if code >= 0 else 128 - code


def results(arguments: Sequence[str]) -> list[dict[str, Any]]:
    """Runs it with `--json`; one dictionary per router. Progress stays on the error stream."""
    done = subprocess.run(
        command([*arguments, "--json"]), stdout=subprocess.PIPE, text=True, check=False
    )
    if done.returncode != 0:
        raise errors.simulation_failed(done.returncode)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
