import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from polycast import kernel
from polycast.kernel import Interruptible

CALLEE = "from polycast.kernel import kernel\n@kernel\ndef inner(x):\n    return x + {}\n"
CALLER = "from polycast.inner import inner\n" + CALLEE.replace("inner(x)", "outer(x)").replace(
    "x + {}", "inner(x)"
)


def test_a_kernel_is_compiled_anew_when_one_that_it_calls_has_changed(tmp_path: Path) -> None:
    package = tmp_path / "polycast"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "kernel.py").write_text(Path(kernel.__file__).read_text())
    (package / "outer.py").write_text(CALLER)
    answers = []
    for constant in (1, 1, 2):
        (package / "inner.py").write_text(CALLEE.format(constant))
        program = (
            "from polycast import kernel\nkernel.on_first_compilation(lambda: print('compiling'))\n"
            "from polycast.outer import outer\nprint(outer(1))"
        )
        done = subprocess.run(
            [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        answers.append(done.stdout.split())
    assert answers == [["compiling", "2"], ["2"], ["compiling", "3"]]


def test_imports_of_several_names_and_lines_are_seen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(kernel, "_PACKAGE", tmp_path)
    room = tmp_path / "room"
    room.mkdir()
    for name in ("a", "b", "c", "d"):
        (room / f"{name}.py").write_text("@minimum_kernel" if name == "b" else "@kernel")
    source = room / "all.py"
    imports = "from polycast.room import (\n    a,\n    b as other,\n)\nfrom polycast.room.c import f\n"
    source.write_text(imports + "from polycast.room.d import g\nimport os\n")
    assert {path.name for path in kernel._imported_kernels(source)} == {"a.py", "b.py", "c.py", "d.py"}


@pytest.mark.parametrize("decorate", [kernel.kernel, kernel.minimum_kernel])
def test_a_kernel_is_no_generator(decorate: Callable[[object], object]) -> None:
    """Numba fails to compile a caller of one that it has loaded from disk."""

    def count(most: int) -> Iterator[int]:
        yield from range(most)

    with pytest.raises(TypeError, match="count is a generator"):
        decorate(count)


def test_ctrl_c_ends_a_piece_of_work_also_where_it_meets_a_kernel() -> None:
    with Interruptible() as work:
        raise SystemError("a call returned a result with an error set") from KeyboardInterrupt()
    assert work.interrupted
    with pytest.raises(SystemError), Interruptible() as work:
        raise SystemError("something else")
    assert not work.interrupted
    with Interruptible() as work:
        pass
    assert not work.interrupted
