# SPDX-License-Identifier: Apache-2.0
"""Every error a user of the Python package can meet: what is wrong, then what to do."""

from __future__ import annotations

from pathlib import Path


class EvenkeelError(RuntimeError):
    """A mistake that the user can mend; the text ends in the remedy."""

    def __init__(self, condition: str, problem: str, remedy: str) -> None:
        super().__init__(f"[{condition}] {problem} {remedy}")
        self.condition = condition
        self.problem = problem
        self.remedy = remedy


def jar_missing(part: str, folder: Path) -> EvenkeelError:
    return EvenkeelError(
        "EVENKEEL_JAR_MISSING",
        f"There is no evenkeel-{part} jar of this version in {folder}.",
        "In a clone run `make build`; otherwise install the wheel again, it carries the jars.",
    )


def pyspark_missing() -> EvenkeelError:
    return EvenkeelError(
        "EVENKEEL_PYSPARK_MISSING",
        "PySpark is not installed, or is the client-only package without jars.",
        "Install it with `pip install pyspark`.",
    )


def spark_minor_differs(found: str, built_for: str) -> EvenkeelError:
    return EvenkeelError(
        "EVENKEEL_SPARK_MINOR_DIFFERS",
        f"This Evenkeel is built for Spark {built_for}, but PySpark is {found}.",
        f"Run `pip install 'pyspark=={built_for}.*'`, or install the Evenkeel for your Spark.",
    )


def session_exists() -> EvenkeelError:
    return EvenkeelError(
        "EVENKEEL_SESSION_EXISTS",
        "A Spark session without Evenkeel is running, and a running session takes no new jars.",
        "Restart Python and start the session with evenkeel.session().",
    )


def jvm_without_jar(jar: Path) -> EvenkeelError:
    return EvenkeelError(
        "EVENKEEL_JVM_WITHOUT_JAR",
        "Spark's JVM was started without the Evenkeel jar (by spark-submit, or for a session that "
        "was stopped since), and its class path is fixed.",
        f"Restart Python and start with evenkeel.session(), or `spark-submit --jars {jar}`.",
    )


def submit_arguments_overrule(option: str, jar: Path) -> EvenkeelError:
    return EvenkeelError(
        "EVENKEEL_SUBMIT_ARGUMENTS_OVERRULE",
        f"PYSPARK_SUBMIT_ARGS sets {option}, which overrules what enable() puts on the builder.",
        f"Set it on the builder instead, or add {jar} and io.evenkeel.EvenkeelExtensions there.",
    )


def connect_needs_server(jar: Path) -> EvenkeelError:
    return EvenkeelError(
        "EVENKEEL_CONNECT_NEEDS_SERVER",
        "A Spark Connect client cannot add Evenkeel to its server.",
        f"Start the server with `--jars {jar}`; hints and settings then work from any client.",
    )


def extension_not_loaded(jar: Path) -> EvenkeelError:
    return EvenkeelError(
        "EVENKEEL_EXTENSION_NOT_LOADED",
        "The session started, but without Evenkeel: Spark only logs a warning when it cannot load "
        "an extension.",
        f"Look for io.evenkeel in Spark's log, check {jar}, and run `evenkeel doctor`.",
    )


def no_explanation() -> EvenkeelError:
    return EvenkeelError(
        "EVENKEEL_NO_EXPLANATION",
        "The session's EXPLAIN has no section of Evenkeel, so the extension is not loaded.",
        "Start the session with evenkeel.session(), or the Connect server with the Evenkeel jar.",
    )


def java_missing(where: str) -> EvenkeelError:
    return EvenkeelError(
        "EVENKEEL_JAVA_MISSING",
        f"No Java that runs on {where}.",
        "Install a JDK 17 or newer and set JAVA_HOME to it or put it on the PATH.",
    )


def java_too_old(version: int, where: str) -> EvenkeelError:
    return EvenkeelError(
        "EVENKEEL_JAVA_TOO_OLD",
        f"{where} has Java {version}, but Spark needs 17.",
        "Install a JDK 17 or newer and set JAVA_HOME to it or put it on the PATH.",
    )


def simulation_failed(exit_code: int) -> EvenkeelError:
    return EvenkeelError(
        "EVENKEEL_SIMULATION_FAILED",
        f"The simulator ended with exit code {exit_code}.",
        "Its own message is above; run `evenkeel doctor` if there is none.",
    )
