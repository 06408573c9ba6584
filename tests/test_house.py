"""The house: what may be imported where, beyond what the layers of the import rule say; and what has no name."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "polycast"
MODULES = sorted(PACKAGE.rglob("*.py"))

RUNNERS = ("convert/pool.py", "convert/runner.py", "convert/warden.py", "convert/worker.py", "convert/tools/")
DATABASES = ("deliver/", "broker/registry.py", "cli/")
DRIVERS = ("broker/", "deliver/", "cli/")
ALLOWED = {
    "pyspark": ("pipeline/",),
    "subprocess": ("pipeline/", "cli/", "broker/", *RUNNERS),
    "multiprocessing": ("pipeline/", "cli/", *RUNNERS),
    "socket": (*DRIVERS, "pipeline/", *RUNNERS),
    "asyncio": (*DRIVERS, *RUNNERS),
    "sqlite3": DATABASES,
    "sqlalchemy": DATABASES,
}
NAMELESS = {"utils", "util", "common", "helpers", "helper", "base", "misc"}


def imported(module: Path) -> set[str]:
    """The packages that a module imports itself, anywhere in its text."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    return {name.partition(".")[0] for name in names}


@pytest.mark.parametrize("package", ALLOWED)
def test_what_touches_the_world_is_imported_only_where_it_may(package: str) -> None:
    users = [module.relative_to(PACKAGE).as_posix() for module in MODULES if package in imported(module)]
    assert [user for user in users if not user.startswith(ALLOWED[package])] == []


def test_no_module_is_a_drawer_for_odds_and_ends() -> None:
    assert [module for module in MODULES if {module.stem, module.parent.name} & NAMELESS] == []


def test_the_lock_file_names_exact_versions_and_no_address() -> None:
    lines = (PACKAGE.parent / "requirements.lock").read_text().split()
    assert all(line.count("==") == 1 and "/" not in line and "@" not in line for line in lines)
