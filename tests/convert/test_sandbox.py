"""Whatever a run does, it ends with a named error, harms nothing, and the pool goes on."""

import importlib
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import espeakng_loader
import imageio_ffmpeg
import PIL
import psutil
import pypdfium2
import pytest
from msgspec.structs import replace

from polycast.convert import confinement, warden
from polycast.convert.messages import Answer, Request
from polycast.convert.pool import Pool
from polycast.convert.task import Limits
from polycast.errors import (
    BadInput,
    Cancelled,
    ConversionError,
    Crashed,
    Refused,
    Timeout,
    TooLarge,
    Unreadable,
)
from polycast.model.format import Format

LIMITS = Limits(wall=20.0, cpu=1.0, memory=256 << 20, output=8 << 20, files=64, processes=32)
HURRIED = replace(LIMITS, wall=1.0)
ANY = Format(name="any", size=None)


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    with Pool(1, warm=()) as workers:
        workers.start()
        yield workers


def do(
    pool: Pool, what: str, limits: Limits = LIMITS, source: Format = ANY, **options: object
) -> tuple[Answer, bytes]:
    with pool.private_folder() as folder:
        content = folder / "content"
        content.write_bytes(b"content")
        request = Request(f"tests.convert.hostile_tools:{what}", str(content), source, (ANY,), str(folder), limits)
        answer = pool.run(request, **options)  # type: ignore[arg-type]
        made = folder / "output-0"
        return answer, made.read_bytes() if made.exists() else b""


@pytest.mark.parametrize(
    ("what", "error"),
    [
        ("segfault", Crashed),
        ("abort", Crashed),
        ("vanish", Crashed),
        ("hang", Timeout),
        ("spin", Timeout),
        ("chatter", Timeout),
        ("stutter", Timeout),
        ("lie", Crashed),
        ("fork_without_end", Refused),
        ("fill_the_disk", TooLarge),
        ("fill_the_disk_with_many_files", TooLarge),
        ("fill_the_disk_unseen", TooLarge),
        ("eat_memory", TooLarge),
        ("eat_shared_memory", TooLarge),
        ("dig_without_end", (Refused, TooLarge)),
        ("dig_in_small_steps", (Refused, TooLarge, Timeout)),  # whichever limit it meets first
        ("make_files_without_end", TooLarge),
        ("answer_nonsense", Crashed),
        ("answer_for_others", Crashed),
        ("complain_in_colours", Unreadable),
        ("open_many", Refused),
        ("no_such_tool", Crashed),
    ],
)
def test_a_run_that_misbehaves_is_a_named_error(pool: Pool, what: str, error: type[ConversionError]) -> None:
    patient = replace(LIMITS, cpu=20.0) if what == "make_files_without_end" else LIMITS
    answer, _ = do(pool, what, HURRIED if what in ("hang", "chatter", "stutter") else patient)
    with pytest.raises(error) as caught:
        answer.check()
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) <= 500
    assert do(pool, "copy")[1] == b"content"


def test_processor_time_is_that_of_all_processes_together(pool: Pool) -> None:
    for what in ("spin", "spin_in_many_processes"):
        answer, _ = do(pool, what)
        assert answer.why == "more than 1 s of processor time"


def test_a_worker_outlives_the_runs_that_crash(pool: Pool) -> None:
    do(pool, "copy")
    before = set(psutil.Process().children())
    for what in ("segfault", "hang", "eat_memory"):
        do(pool, what, HURRIED)
    assert set(psutil.Process().children()) == before


def test_nothing_that_a_run_has_started_outlives_it(pool: Pool) -> None:
    with pool.private_folder() as folder:
        (folder / "content").write_bytes(b"content")
        request = Request(
            "tests.convert.hostile_tools:leave_a_daemon", str(folder / "content"), ANY, (ANY,), str(folder), LIMITS
        )
        pool.run(request).check()
        beat = (folder / "heart").read_text()
        time.sleep(0.2)
        assert (folder / "heart").read_text() == beat


def test_a_run_reaches_no_file_and_no_network(pool: Pool, tmp_path: Path) -> None:
    isolation = pool.start()
    secret = tmp_path / "secret"
    secret.write_text("secret")
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as line:
        line.bind(str(tmp_path / "socket"))
        line.listen()
        source = Format(name=str(secret), size=None, width=server.getsockname()[1])
        _, reached = do(pool, "say_what_is_reachable", source=source)
    allowed = set() if isolation.files else {"read", "write", "delete", "list"}
    allowed |= set() if isolation.network or isolation.files or isolation.calls else {"connect"}
    allowed |= set() if isolation.calls else {"call", "privileges"}
    assert set(reached.decode().split()) <= allowed


WITHOUT_NAMESPACES = """
from polycast.convert import confinement
if confinement._permitted(confinement._leave_network):  # who is not allowed to lacks them already
    confinement._leave_network()
    open("/proc/sys/user/max_user_namespaces", "w").write("0")
from tests.convert.test_sandbox import *
with Pool(1, warm=()) as pool:
    print(pool.start())
    print(pool.start().missing())
    print(*[do(pool, what, HURRIED)[0].error for what in ("copy", "hang", "segfault", "leave_a_daemon", "spin")])
"""


def test_a_system_without_guards_of_its_own_says_so_and_keeps_every_limit() -> None:
    """No namespaces, as in many containers and for users who may not have them."""
    command = [sys.executable, "-c", WITHOUT_NAMESPACES]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    isolation, missing, errors = done.stdout.splitlines()
    assert "network=False, processes=False" in isolation
    assert errors == "None Timeout Crashed None Timeout"
    assert ("calls=False" in isolation) == ("reach the network" in missing)
    said = f"polycast: on this system, content that takes over a conversion could {missing}\n"
    assert done.stderr == (said if missing else "")


def test_workers_end_with_the_process_that_has_the_pool() -> None:
    program = (
        "from tests.convert.test_sandbox import *\n"
        "pool = Pool(1, warm=())\n"
        "pool.start()\n"
        "print('ready', flush=True)\n"
        "do(pool, 'hang', Limits())\n"
    )
    owner = psutil.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
    owner.stdout.readline()
    time.sleep(0.2)
    family = owner.children(recursive=True)
    owner.kill()
    owner.wait()
    owner.stdout.close()
    _, alive = psutil.wait_procs(family, timeout=5)
    assert len(family) >= 2
    assert not alive


def test_a_run_has_none_of_our_secrets_in_its_environment(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "x")
    with Pool(1, warm=()) as fresh:
        fresh.start()
        worker = psutil.Process().children()[-1]
        assert "SECRET_TOKEN" not in worker.environ()
    del pool


def test_a_run_can_be_cancelled(pool: Pool) -> None:
    cancelled = threading.Event()
    threading.Timer(0.2, cancelled.set).start()
    start = time.monotonic()
    with pytest.raises(Cancelled):
        do(pool, "hang", Limits(), cancelled=cancelled)
    assert time.monotonic() - start < 5
    assert do(pool, "copy")[1] == b"content"


def test_a_lost_worker_is_replaced_and_the_run_tried_again(pool: Pool) -> None:
    do(pool, "copy")
    for worker in psutil.Process().children():
        worker.kill()
    assert do(pool, "copy")[1] == b"content"


def test_a_worker_that_is_lost_at_work_takes_its_run_along(pool: Pool) -> None:
    pool.start()
    (worker,) = [child for child in psutil.Process().children() if "convert.worker" in " ".join(child.cmdline())]
    seen: list[psutil.Process] = []

    def kill() -> None:
        seen.extend(worker.children(recursive=True))
        worker.kill()

    threading.Timer(0.3, kill).start()
    with pytest.raises(Timeout):  # the second attempt, by another worker, hangs too
        do(pool, "hang", HURRIED)[0].check()
    _, alive = psutil.wait_procs(seen, timeout=3)
    assert seen
    assert not alive


def test_workers_are_replaced_after_so_many_jobs() -> None:
    with Pool(1, warm=(), jobs_per_worker=2) as pool:
        seen = set()
        for _ in range(4):
            do(pool, "copy")
            seen |= {child.pid for child in psutil.Process().children()}
        assert len(seen) >= 2


def test_two_runs_at_a_time() -> None:
    with Pool(2, warm=()) as pool:
        pool.start()
        slow = threading.Thread(target=do, args=(pool, "hang", replace(LIMITS, wall=3.0)))
        slow.start()
        start = time.monotonic()
        do(pool, "copy")
        assert time.monotonic() - start < 2.5
        slow.join()


def test_progress_is_told(pool: Pool) -> None:
    heard: list[float] = []
    do(pool, "chatter", HURRIED, progress=heard.append)
    assert set(heard) == {0.5}


def test_a_pool_leaves_nothing_behind(tmp_path: Path) -> None:
    with Pool(1, warm=(), scratch=tmp_path) as pool:
        do(pool, "fill_the_disk")
        do(pool, "copy")
    assert list(tmp_path.iterdir()) == []


def test_the_folders_of_a_killed_process_are_cleared(tmp_path: Path) -> None:
    (tmp_path / "pool-99999999-x" / "run-x").mkdir(parents=True)
    (tmp_path / f"pool-{os.getppid()}-x").mkdir()
    with Pool(1, warm=(), scratch=tmp_path):
        names = {path.name.split("-")[1] for path in tmp_path.iterdir()}
    assert names == {str(os.getpid()), str(os.getppid())}


@pytest.mark.parametrize("what", ["dig_without_end", "hide_what_is_written"])
def test_what_a_run_has_hidden_is_cleared_too(pool: Pool, what: str) -> None:
    do(pool, what, HURRIED)
    assert not list(pool._scratch.glob("run-*"))


def test_memory_that_is_in_no_process_is_not_given(pool: Pool) -> None:
    if pool.start().calls:
        with pytest.raises(Crashed, match="not permitted"):
            do(pool, "eat_memory_in_files")[0].check()


def test_what_is_written_is_counted_however_deep_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    depth = 1500
    monkeypatch.chdir(tmp_path)
    for _ in range(depth):
        os.mkdir("d")
        os.chdir("d")
        Path("f").write_bytes(b"12345")
    try:
        assert warden.written(tmp_path) == 5 * depth
    finally:
        subprocess.run(["rm", "-rf", tmp_path / "d"], check=True)


def test_a_run_has_few_numbers_for_processes() -> None:
    script = """
import os
from pathlib import Path
from polycast.convert import confinement
if confinement.isolate().processes and confinement.KERNEL >= confinement.NUMBERS_BY_NAMESPACE:
    confinement.separate_processes()
    if os.fork() == 0:
        confinement.bound_processes(32)
        print(Path(confinement.MOST_NUMBERS).read_text(), flush=True)
        os._exit(0)
    os.wait()
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert done.stdout.strip() in (b"333", b"")  # nothing where the system has no such guard


def test_code_is_read_and_not_what_lies_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "single.py").touch()
    (tmp_path / "several").mkdir()
    (tmp_path / "several" / "part.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    for module, place in (("single", "single.py"), ("several.part", "several")):
        importlib.import_module(module)
        assert warden.code_of(module) == [tmp_path / place]


def test_what_is_missing_is_said() -> None:
    assert confinement.Isolation(network=True, processes=True, files=True, calls=False).missing() == ""
    bare = confinement.Isolation(network=False, processes=False, files=False, calls=False)
    assert bare.missing().count(" and ") == 2


def test_a_folder_that_somebody_else_has_laid_out_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir()
    (tmp_path / "ours").symlink_to(tmp_path / "theirs")
    with pytest.raises(Refused, match="somebody else"):
        Pool(1, scratch=tmp_path / "ours")


def test_limits_are_above_nothing() -> None:
    with pytest.raises(BadInput):
        Limits(wall=0)


def test_tools_are_where_a_run_may_read() -> None:
    places = [place.resolve() for place in confinement.programs()]
    for package in (PIL, pypdfium2, imageio_ffmpeg, espeakng_loader):
        assert any(Path(package.__file__).resolve().is_relative_to(place) for place in places), package
