# SPDX-License-Identifier: Apache-2.0
"""`evenkeel doctor`: what is installed, and what is wrong with it."""

from __future__ import annotations

import platform
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

from evenkeel import errors, installation


@dataclass(frozen=True)
class Finding:
    """One line of the report; `remedy` is empty when all is well."""

    subject: str
    state: str
    remedy: str = ""


def examine() -> list[Finding]:
    """Looks at each part on its own, so that one broken part does not hide the next."""
    return [
        Finding("Evenkeel", installation.VERSION),
        Finding("Python", f"{platform.python_version()} ({platform.platform(terse=True)})"),
        _look("Java", lambda: f"{installation.java_version()} ({installation.java()})"),
        _look("PySpark", _pyspark),
        _look("Extension jar", lambda: str(installation.jar("spark"))),
        _look("Simulator jar", lambda: str(installation.jar("bench"))),
    ]


def _look(subject: str, state: Callable[[], str]) -> Finding:
    try:
        return Finding(subject, state())
    except errors.EvenkeelError as error:
        return Finding(subject, error.problem, error.remedy)


def _pyspark() -> str:
    installation.pyspark_jars()
    try:
        found = version("pyspark")
    except PackageNotFoundError:
        raise errors.pyspark_missing() from None
    try:
        built_for = installation.built_for_spark()
    except errors.EvenkeelError:
        return found  # the missing jar is a finding of its own
    if not found.startswith(built_for + "."):
        raise errors.spark_minor_differs(found, built_for)
    return f"{found} (Evenkeel is built for {built_for})"
