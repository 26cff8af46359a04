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

    @classmethod
    def told(cls, condition: str, message: str) -> EvenkeelError:
        """An error that the JVM has put into words; its last sentence is the remedy."""
        problem, _, remedy = message.rpartition(". ")
        return cls(condition, f"{problem}." if problem else "", remedy)


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
        "Run `pip install 'pyspark==4.2.*'`.",
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


def data_not_fetched(package: str, complaint: str) -> EvenkeelError:
    reason = complaint.splitlines()[-1] if complaint else "it gave no reason"
    return EvenkeelError(
        "EVENKEEL_DATA_NOT_FETCHED",
        f"pip could not install {package}: {reason}.",
        "Check the network and pip's index, or run `evenkeel demo-routers`, which needs neither.",
    )


def simulation_failed(exit_code: int) -> EvenkeelError:
    return EvenkeelError(
        "EVENKEEL_SIMULATION_FAILED",
        f"The simulator ended with exit code {exit_code}.",
        "Its own message is above; run `evenkeel doctor` if there is none.",
    )


def aggregator_schema_invalid(which: str, given: str, reason: str) -> EvenkeelError:
    return EvenkeelError(
        "EVENKEEL_AGGREGATOR_SCHEMA_INVALID",
        f"{which}={given} is no schema: {reason}.",
        "Give a StructType, or a text such as 'n long, total double, tags array<string>'.",
    )


def aggregator_argument_invalid(argument: str, given: str, expected: str) -> EvenkeelError:
    return EvenkeelError(
        "EVENKEEL_AGGREGATOR_ARGUMENT_INVALID",
        f"{argument}={given} is not possible.",
        f"Give {expected}.",
    )


def aggregate_on_stream() -> EvenkeelError:
    return EvenkeelError(
        "EVENKEEL_AGGREGATE_ON_STREAM",
        "The DataFrame is a stream, and a Python aggregate would start anew in every micro-batch.",
        "Call evenkeel.aggregate inside foreachBatch, or use transformWithState.",
    )


def aggregate_column_unknown(column: str, known: str) -> EvenkeelError:
    return EvenkeelError(
        "EVENKEEL_AGGREGATE_COLUMN_UNKNOWN",
        f"The DataFrame has no column {column}.",
        f"Choose from {known}.",
    )


def aggregate_column_clash(column: str, roles: str) -> EvenkeelError:
    return EvenkeelError(
        "EVENKEEL_AGGREGATE_COLUMN_CLASH",
        f"The column {column} is there twice: {roles}.",
        "Rename one of them.",
    )


def aggregate_key_type(column: str, data_type: str, remedy: str) -> EvenkeelError:
    return EvenkeelError(
        "EVENKEEL_AGGREGATE_KEY_TYPE",
        f"The key {column} has the type {data_type}, by which Python cannot group as Spark does.",
        f"{remedy}.",
    )


def aggregate_bound_invalid(key: str, value: str) -> EvenkeelError:
    return EvenkeelError(
        "EVENKEEL_AGGREGATE_BOUND_INVALID",
        f"{key} is {value}.",
        "Set it to a whole number of 1 or more.",
    )


def aggregator_raised(function: str, key: str, column: str, raised: str) -> EvenkeelError:
    return EvenkeelError(
        "EVENKEEL_AGGREGATOR_RAISED",
        f"{function} failed for the key {key}, column {column}: {raised}.",
        f"Mend {function}; evenkeel.check_aggregator runs it on a sample without Spark.",
    )


def aggregator_result_kind(function: str, key: str, found: str, expected: str) -> EvenkeelError:
    return EvenkeelError(
        "EVENKEEL_AGGREGATOR_RESULT_KIND",
        f"{function} returned a {found} for the key {key}.",
        f"Return {expected}.",
    )


def aggregator_column_missing(function: str, key: str, column: str, found: str) -> EvenkeelError:
    return EvenkeelError(
        "EVENKEEL_AGGREGATOR_COLUMN_MISSING",
        f"{function} returned no column {column} for the key {key}, but: {found}.",
        "Return the key columns and every column of the declared schema.",
    )


def aggregator_column_unexpected(
    function: str, key: str, column: str, declared: str
) -> EvenkeelError:
    return EvenkeelError(
        "EVENKEEL_AGGREGATOR_COLUMN_UNEXPECTED",
        f"{function} returned the column {column} for the key {key}, which is not declared.",
        f"Drop it, or declare it beside {declared}.",
    )


def aggregator_column_type(
    function: str, key: str, column: str, found: str, declared: str
) -> EvenkeelError:
    return EvenkeelError(
        "EVENKEEL_AGGREGATOR_COLUMN_TYPE",
        f"{function} returned {found} in column {column} for the key {key}, declared is "
        f"{declared}.",
        "Cast the column, or declare its true type.",
    )


def aggregator_key_twice(function: str, key: str, column: str, rows: int) -> EvenkeelError:
    return EvenkeelError(
        "EVENKEEL_AGGREGATOR_KEY_TWICE",
        f"{function} returned {rows} rows for the key {key} (key column {column}).",
        "Group by all key columns, so that each key has one row.",
    )


def aggregator_key_lost(function: str, key: str, column: str) -> EvenkeelError:
    return EvenkeelError(
        "EVENKEEL_AGGREGATOR_KEY_LOST",
        f"{function} returned no row for the key {key} (key column {column}).",
        "Return one row for each key; pandas drops NULL keys unless told groupby(..., "
        "dropna=False).",
    )


def aggregator_key_invented(function: str, key: str, column: str) -> EvenkeelError:
    return EvenkeelError(
        "EVENKEEL_AGGREGATOR_KEY_INVENTED",
        f"{function} returned a row for the key {key} (key column {column}), which it was not "
        "given.",
        "Return the key columns as they came.",
    )


def aggregator_law_broken(
    law: str, key: str, column: str, one_way: str, other_way: str, seed: int
) -> EvenkeelError:
    return EvenkeelError(
        "EVENKEEL_AGGREGATOR_LAW_BROKEN",
        f"{law}: for the key {key} the column {column} is {one_way} one way and {other_way} the "
        f"other (seed {seed}).",
        "Mend the function: Spark merges in any order and any grouping, so the result would vary.",
    )


def state_provider_left_alone(provider: str) -> EvenkeelError:
    return EvenkeelError(
        "EVENKEEL_STATE_PROVIDER_LEFT_ALONE",
        f"The state store provider is {provider}, which Evenkeel does not know, so streams run as "
        "plain Spark.",
        "Choose Spark's RocksDBStateStoreProvider or HDFSBackedStateStoreProvider to let state "
        "move.",
    )


def checkpoint_needs_jvm(command: str) -> EvenkeelError:
    return EvenkeelError(
        "EVENKEEL_CHECKPOINT_NEEDS_JVM",
        f"`{command}` changes files of a checkpoint, which a Spark Connect client cannot do.",
        f"Run `evenkeel {command} <checkpoint>` on a machine that reaches the files.",
    )
