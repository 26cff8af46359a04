# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import evenkeel


def evenkeel_command(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    # A JVM announces this variable on the error stream, where we count the lines.
    quiet = {k: v for k, v in os.environ.items() if k != "JAVA_TOOL_OPTIONS"}
    return subprocess.run(
        [sys.executable, "-m", "evenkeel", *arguments],
        env=quiet | {"COLUMNS": "200"} | environment,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


def test_version_prints_the_version() -> None:
    assert evenkeel_command("version").stdout == evenkeel.__version__ + "\n"


def test_help_lists_every_command() -> None:
    shown = evenkeel_command("--help").stdout
    assert all(name in shown for name in ("simulate", "demo", "doctor", "version"))


def test_doctor_is_content_with_this_machine() -> None:
    done = evenkeel_command("doctor")
    assert done.returncode == 0, done.stdout
    assert "wrong" not in done.stdout
    assert str(evenkeel.jar()) in done.stdout


def test_doctor_says_what_is_wrong_with_java_and_goes_on(tmp_path: Path) -> None:
    done = evenkeel_command("doctor", JAVA_HOME=str(tmp_path))
    assert done.returncode == 1
    assert f"No Java that runs on JAVA_HOME ({tmp_path})." in done.stdout
    assert "Install a JDK 17" in done.stdout
    assert str(evenkeel.jar()) in done.stdout


def test_doctor_names_an_old_java(tmp_path: Path) -> None:
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\necho 'openjdk version \"1.8.0_402\"' >&2\n")
    java.chmod(0o755)
    done = evenkeel_command("doctor", JAVA_HOME=str(tmp_path))
    assert done.returncode == 1
    assert "has Java 8, but Spark needs 17" in done.stdout


def test_simulate_prints_one_json_object_per_router() -> None:
    arguments = "--router hash,shuffle --trace zipf:1.5:1000 --targets 8 --rows 20000"
    windows = "--window 5000 --slide 1000 --seed 7 --json"
    done = evenkeel_command("simulate", *arguments.split(), *windows.split())
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["router"] for row in rows] == ["hash", "shuffle"]
    assert rows[0]["gamma_per_key"] == 1
    assert rows[1]["imbalance"] < rows[0]["imbalance"]


def test_simulate_help_is_the_simulators_own() -> None:
    done = evenkeel_command("simulate", "--help")
    assert done.returncode == 0
    assert "--source-split" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("--router hsh --trace uniform:10", "Did you mean 'hash'?"),
        ("--router hash --trace no/such/file.txt", "no/such/file.txt"),
        ("--router hash --trace uniform:10 --targets 0", "--targets"),
        ("--router hash --trace uniform:10 --window 10 --slide 20", "shorter than the slide"),
    ],
)
def test_a_mistake_is_one_sentence_and_exit_code_2(arguments: str, sentence: str) -> None:
    done = evenkeel_command("simulate", *arguments.split())
    assert done.returncode == 2
    assert done.stdout == ""
    assert sentence in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_an_empty_trace_is_one_sentence_and_exit_code_2(tmp_path: Path) -> None:
    empty = tmp_path / "empty.txt"
    empty.write_text("")
    done = evenkeel_command("simulate", "--router", "hash", "--trace", str(empty))
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1


def test_no_java_is_one_sentence_and_exit_code_2(tmp_path: Path) -> None:
    done = evenkeel_command("simulate", "--help", JAVA_HOME=str(tmp_path))
    assert done.returncode == 2
    assert "Install a JDK 17" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(os.name == "nt", reason="signals to process groups")
def test_an_interrupt_ends_the_simulator_without_a_stack_trace() -> None:
    arguments = "simulate --router hash --trace uniform:100000 --rows 500000000"
    child = subprocess.Popen(
        [sys.executable, "-m", "evenkeel", *arguments.split()],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    _wait_for_java(child)
    os.killpg(child.pid, signal.SIGINT)
    _, complaints = child.communicate(timeout=60)
    assert child.returncode == 130
    assert "Traceback" not in complaints


def _wait_for_java(parent: subprocess.Popen[str]) -> None:
    children = Path(f"/proc/{parent.pid}/task/{parent.pid}/children")
    if not children.parent.is_dir():
        pytest.skip("needs /proc")
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not children.read_text():
        time.sleep(0.05)


def test_the_router_demo_writes_table_plot_and_words(tmp_path: Path) -> None:
    done = evenkeel_command(
        "demo-routers", "--out", str(tmp_path), "--rows", "20000", "--targets", "16"
    )
    assert done.returncode == 0, done.stderr
    assert "imbalance" in done.stdout
    assert "hash" in done.stdout
    assert (tmp_path / "routers.png").stat().st_size > 10_000
    assert (tmp_path / "words.txt.gz").exists()


def test_the_stream_demo_without_a_terminal_writes_lines_and_ends_with_a_table() -> None:
    done = evenkeel_command("demo-stream", "--seconds", "1")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    batches = [line for line in lines if line.startswith("batch ") and "x fair" in line]
    assert len(batches) >= 3
    assert all("plain: fullest" in line and "Evenkeel: fullest" in line for line in batches)
    assert any("state moves" in line for line in lines)
    assert "longest / mean task" in done.stdout
    assert "\x1b" not in done.stdout


def test_the_demo_shows_hot_keys_and_both_plans_on_real_flights(tmp_path: Path) -> None:
    done = evenkeel_command("demo", "--out", str(tmp_path), "--copies", "1")
    assert done.returncode == 0, done.stderr
    assert "United" in done.stdout
    assert "fullest" in done.stdout
    assert (tmp_path / "demo.png").stat().st_size > 10_000
