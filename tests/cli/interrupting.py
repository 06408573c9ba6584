"""Ctrl-C from outside: a command in a process of its own."""

import signal
import subprocess
import sys
import time


def interrupted(arguments: list[str], patience: float) -> tuple[int, bytes]:
    """Run a command, interrupt it after some seconds, and return its exit code and what it printed."""
    command = [sys.executable, "-m", "polycast", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        time.sleep(patience)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
    return process.returncode, out
