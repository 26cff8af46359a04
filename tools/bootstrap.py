# SPDX-License-Identifier: Apache-2.0
"""Turns a fresh clone into a working one: needs Python 3.10+ and Java 17+, nothing else.

    python3 tools/bootstrap.py          .venv with the pinned packages, this project, and sbt
    python3 tools/bootstrap.py docs     the documentation tools as well

Every step leaves a stamp only after it has succeeded, so an interrupted run is simply run again,
and a run with nothing to do takes a moment. Logs of the steps are in .tools/logs.
"""

import sys

if sys.version_info < (3, 10):  # before anything an older Python could stumble over
    sys.exit(
        "Evenkeel needs Python 3.10 or newer, but %s is %d.%d.\n"
        "Install a newer one and point make at it: make setup PYTHON=python3.12"
        % (sys.executable, sys.version_info[0], sys.version_info[1])
    )

import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import threading
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
VENV_PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
TOOLS = ROOT / ".tools"
JAVA_NEEDED = 17
LOUD = sys.stdout.isatty()


class CannotSetUpError(Exception):
    """Something is missing on this machine; the text says what and how to get it."""


def main(wanted: list[str]) -> None:
    """Runs the steps that are not done yet."""
    unknown = set(wanted) - {"docs"}
    if unknown:
        raise CannotSetUpError(f"Unknown part {', '.join(sorted(unknown))}. Known: docs.")
    check_java()
    make_venv()
    install_packages("dev", "Python packages (PySpark is big: some minutes the first time)")
    install_project()
    fetch_sbt()
    if "docs" in wanted:
        install_packages("docs", "Documentation tools")


def java_command() -> str:
    """Java as Spark's launcher would choose it: JAVA_HOME first, then the PATH."""
    home = os.environ.get("JAVA_HOME")
    return str(Path(home, "bin", "java")) if home else "java"


def check_java() -> None:
    """Stops with the remedy when Java is missing or too old."""
    java, home = java_command(), os.environ.get("JAVA_HOME")
    where = f"JAVA_HOME ({home})" if home else "the PATH"
    remedy = (
        f"Install a JDK {JAVA_NEEDED} or newer (Debian, Ubuntu: openjdk-{JAVA_NEEDED}-jdk, "
        f"macOS: openjdk@{JAVA_NEEDED}) and set JAVA_HOME to it or put it on the PATH."
    )
    try:
        # A JVM start costs half a second: believe the last answer while the file is the same.
        found = shutil.which(java)
        if found is None:
            raise FileNotFoundError(java)
        real = Path(found).resolve()
        stamp = Stamp(TOOLS / "java.stamp", [str(real), str(real.stat().st_mtime_ns)])
        if stamp.is_fresh():
            return
        text = subprocess.run([java, "-version"], capture_output=True, text=True, check=True).stderr
    except (OSError, subprocess.CalledProcessError) as error:
        raise CannotSetUpError(f"No Java that runs on {where}. {remedy}") from error
    version = re.search(r'version "(?:1\.)?(\d+)', text)
    if not version or int(version.group(1)) < JAVA_NEEDED:
        told = next((line for line in text.splitlines() if "version" in line), "no known version")
        raise CannotSetUpError(f"Java on {where} is too old, it says: {told}. {remedy}")
    stamp.write()


def make_venv() -> None:
    """A virtual environment of its own; one made by another Python is replaced."""
    stamp = Stamp(VENV / "made.stamp", [sys.version, sys.base_prefix])
    if stamp.is_fresh() and VENV_PYTHON.exists():
        return
    if importlib.util.find_spec("ensurepip") is None or importlib.util.find_spec("venv") is None:
        raise CannotSetUpError(
            f"{sys.executable} cannot make virtual environments. Install its venv package "
            f"(Debian, Ubuntu: python3.{sys.version_info[1]}-venv) and run the command again."
        )
    step("Virtual environment .venv", [sys.executable, "-m", "venv", "--clear", str(VENV)], "venv")
    stamp.write()


def install_packages(group: str, title: str) -> None:
    """The pins of one requirements file."""
    pins = ROOT / "conf" / f"requirements-{group}.txt"
    stamp = Stamp(VENV / f"packages-{group}.stamp", [pins.read_text()])
    if not stamp.is_fresh():
        # The pins of the first group bind every other one, so that no group undoes another.
        bound = str(ROOT / "conf" / "requirements-dev.txt")
        step(title, pip("install", "-r", str(pins), "-c", bound), f"pip-{group}")
        stamp.write()


def install_project() -> None:
    """This clone as an editable install, built with the hatchling that is already there."""
    stamp = Stamp(VENV / "project.stamp", [(ROOT / "pyproject.toml").read_text(), str(ROOT)])
    if not stamp.is_fresh():
        arguments = ("install", "--no-deps", "--no-build-isolation", "-e", str(ROOT))
        step("evenkeel itself, editable", pip(*arguments), "pip-project")
        stamp.write()


def fetch_sbt() -> None:
    """The sbt launcher by its coordinates, with the Ivy that PySpark brings along."""
    properties = (ROOT / "project" / "build.properties").read_text()
    version = dict(line.split("=", 1) for line in properties.split())["sbt.version"]
    launcher = TOOLS / f"sbt-launch-{version}.jar"
    if launcher.exists():
        return
    ivy = next(VENV.glob("**/pyspark/jars/ivy-*.jar"))
    fresh = TOOLS / "fetched"
    shutil.rmtree(fresh, ignore_errors=True)
    coordinates = ["-dependency", "org.scala-sbt", "sbt-launch", version]
    target = ["-cache", str(TOOLS / "ivy"), "-retrieve", str(fresh / "[artifact].[ext]")]
    step(
        f"sbt {version} launcher", [java_command(), "-jar", str(ivy), *coordinates, *target], "sbt"
    )
    fetched = fresh / "sbt-launch.jar"
    if not zipfile.is_zipfile(fetched):
        raise CannotSetUpError(
            f"The sbt launcher did not arrive whole. Delete {TOOLS / 'ivy'} and run again; "
            f"what Ivy said is in {TOOLS / 'logs' / 'sbt.log'}."
        )
    fetched.replace(launcher)
    shutil.rmtree(fresh)


def pip(*arguments: str) -> list[str]:
    """A pip call inside .venv."""
    return [str(VENV_PYTHON), "-m", "pip", "--disable-pip-version-check", *arguments]


class Stamp:
    """Remembers by content what a finished step was made from."""

    def __init__(self, path: Path, made_from: list[str]) -> None:
        self.path = path
        self.digest = hashlib.sha256("\0".join(made_from).encode()).hexdigest()

    def is_fresh(self) -> bool:
        """True if the step has been finished with the same inputs."""
        return self.path.exists() and self.path.read_text() == self.digest

    def write(self) -> None:
        """All or nothing, so that no interruption leaves half a stamp."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        fresh = self.path.with_suffix(".new")
        fresh.write_text(self.digest)
        fresh.replace(self.path)


def step(title: str, command: list[str], name: str) -> None:
    """Runs one command: its output into a log, its progress onto the screen."""
    log = TOOLS / "logs" / f"{name}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    latest = [""]
    if not LOUD:
        print(f"==> {title}", flush=True)
    with (
        log.open("w") as out,
        subprocess.Popen(
            command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        ) as child,
    ):

        def follow() -> None:
            assert child.stdout is not None
            for line in child.stdout:
                out.write(line)
                out.flush()
                latest[0] = line.strip() or latest[0]

        reader = threading.Thread(target=follow)
        reader.start()
        told = started
        try:
            while reader.is_alive():
                reader.join(0.5)
                told = show_progress(title, started, told, latest[0])
        except KeyboardInterrupt:
            child.terminate()
            raise
        reader.join()
    took = f"{time.monotonic() - started:.0f} s"
    if child.returncode != 0:
        tail = "\n".join("    " + line for line in log.read_text().splitlines()[-15:])
        raise CannotSetUpError(
            f"{title}: exit code {child.returncode} after {took}. The end of {log}:\n{tail}\n"
            "Nothing half-done is kept: run the same command again once the cause is gone."
        )
    print(("\r\033[K" if LOUD else "") + f"==> {title}: done, {took}", flush=True)


def show_progress(title: str, started: float, told: float, latest: str) -> float:
    """One living line on a terminal; in a log a line every 20 seconds."""
    now = time.monotonic()
    if LOUD:
        width = shutil.get_terminal_size().columns - 1
        line = f"==> {title}: {now - started:.0f} s  {latest}"
        print("\r\033[K" + line[:width], end="", flush=True)
    elif now - told >= 20:
        print(f"    {now - started:.0f} s  {latest[:100]}", flush=True)
        return now
    return told


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except CannotSetUpError as problem:
        sys.exit(f"\n{problem}")
    except KeyboardInterrupt:
        print("\nInterrupted. Run the same command again to go on from here.", file=sys.stderr)
        sys.exit(130)
