"""Tools that misbehave in every way that content could make a real one misbehave. They run in the sandbox only."""

import ctypes
import mmap
import os
import socket
import time
from pathlib import Path

from polycast.convert import messages
from polycast.convert.messages import Answer
from polycast.convert.task import Task
from polycast.errors import Unreadable


def copy(task: Task) -> None:
    for output in task.outputs:
        output.path.write_bytes(task.content.read_bytes())


def segfault(task: Task) -> None:  # noqa: ARG001
    ctypes.string_at(0)


def abort(task: Task) -> None:  # noqa: ARG001
    os.abort()


def vanish(task: Task) -> None:  # noqa: ARG001
    os._exit(0)


def hang(task: Task) -> None:  # noqa: ARG001
    time.sleep(1000)


def spin(task: Task) -> None:  # noqa: ARG001
    while True:
        pass


def spin_in_many_processes(task: Task) -> None:
    """None of them takes more than its share of the time allowed."""
    for _ in range(4):
        os.fork()
    spin(task)


def chatter(task: Task) -> None:
    while True:
        task.progress(0.5)


def stutter(task: Task) -> None:  # noqa: ARG001
    os.write(3, b"\x00\x00")
    time.sleep(1000)


def lie(task: Task) -> None:  # noqa: ARG001
    os.write(3, b"\xff" * 100)
    time.sleep(1000)


def fork_without_end(task: Task) -> None:  # noqa: ARG001
    while True:
        try:
            os.fork()
        except OSError:
            time.sleep(0.01)


def leave_a_daemon(task: Task) -> None:
    """A child in a session of its own, which outlives us if it can, and beats its heart in a file."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            while True:
                Path("heart").write_text(str(time.time()))
                time.sleep(0.02)
        os._exit(0)
    time.sleep(0.2)
    copy(task)


def fill_the_disk(task: Task) -> None:  # noqa: ARG001
    with Path("large").open("wb") as file:
        while True:
            file.write(bytes(1 << 20))


def fill_the_disk_unseen(task: Task) -> None:  # noqa: ARG001
    """Files that have no name any more, so slowly that there are not too many open before somebody looks."""
    hoard = []
    while True:
        hoard.append(os.open("gone", os.O_CREAT | os.O_WRONLY))
        os.unlink("gone")
        os.write(hoard[-1], bytes(1 << 20))
        time.sleep(0.01)


def fill_the_disk_with_many_files(task: Task) -> None:  # noqa: ARG001
    number = 0
    while True:
        number += 1
        Path(f"file-{number}").write_bytes(bytes(1 << 20))


def eat_memory(task: Task) -> None:  # noqa: ARG001
    hoard = []
    while True:
        hoard.append(b"x" * (4 << 20))


def eat_shared_memory(task: Task) -> None:  # noqa: ARG001
    """Memory that belongs to no process alone."""
    hoard = []
    while True:
        hoard.append(mmap.mmap(-1, 4 << 20))
        hoard[-1].write(bytes(4 << 20))


def eat_memory_in_files(task: Task) -> None:  # noqa: ARG001
    """Memory that is in no process at all."""
    hoard = []
    while True:
        hoard.append(os.memfd_create("hoard"))
        os.write(hoard[-1], bytes(4 << 20))


def dig_without_end(task: Task, name: str = "deeper") -> None:  # noqa: ARG001
    """Folders in folders, until nothing can name the last one."""
    while True:
        os.mkdir(name)
        os.chdir(name)


def dig_in_small_steps(task: Task) -> None:
    """The names are so short that a thousand folders can be named."""
    dig_without_end(task, "d")


def hide_what_is_written(task: Task) -> None:  # noqa: ARG001
    Path("hidden").mkdir()
    os.chdir("hidden")
    Path("../hidden").chmod(0)
    time.sleep(1000)


def make_files_without_end(task: Task) -> None:  # noqa: ARG001
    number = 0
    while True:
        number += 1
        Path(f"empty-{number}").touch()


def answer_nonsense(task: Task) -> None:  # noqa: ARG001
    """What a run that is taken over could say of itself."""
    messages.send(3, Answer("ClassVar", "\x1b[2Jgone\n" * 100))
    time.sleep(1000)


def answer_for_others(task: Task) -> None:  # noqa: ARG001
    messages.send(3, Answer("Cancelled", "nobody wants this"))
    time.sleep(1000)


def complain_in_colours(task: Task) -> None:  # noqa: ARG001
    raise Unreadable("\x1b[2Jgone\nto the next line " + "x" * 5000)


def open_many(task: Task) -> None:  # noqa: ARG001
    hoard = []
    while True:
        hoard.append(os.open("/dev/null", os.O_RDONLY))


def link_elsewhere(task: Task) -> None:
    """An output that is a link to a file of the broker's."""
    task.outputs[0].path.symlink_to(task.content)


def say_what_is_reachable(task: Task) -> None:
    """Try what a run must not do; write a line for everything that worked."""
    secret = Path(task.source.name)
    reached = [name for name, attempt in ATTEMPTS.items() if _works(attempt, secret)]
    reached += ["connect"] * _works(_connect, task.source.width)
    reached += ["call"] * _works(_call, secret.with_name("socket"))
    reached += ["privileges"] * _works(_privileges, None)
    task.outputs[0].path.write_text(" ".join(reached))


def _works(attempt: object, secret: object) -> bool:
    try:
        attempt(secret)  # type: ignore[operator]
    except OSError:
        return False
    return True


def _connect(port: int) -> None:
    socket.create_connection(("127.0.0.1", port), timeout=1).close()


def _call(path: Path) -> None:
    """Another program of this machine, by way of a file."""
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(str(path))


def _privileges(_: object) -> None:
    new_user_namespace = 0x10000000
    if ctypes.CDLL(None).unshare(new_user_namespace) != 0:
        raise OSError


ATTEMPTS = {
    "read": lambda secret: secret.read_bytes(),
    "write": lambda secret: secret.with_name("written").write_bytes(b"x"),
    "delete": lambda secret: secret.unlink(),
    "list": lambda secret: list(secret.parent.iterdir()),
}
