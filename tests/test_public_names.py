"""What ``from polycast import …`` offers is there, and costs nothing until it is asked for."""

import subprocess
import sys

import pytest

import polycast


@pytest.mark.parametrize("name", polycast.__all__)
def test_a_public_name_is_there(name: str) -> None:
    assert getattr(polycast, name) is not None


def test_the_package_alone_loads_no_library() -> None:
    asked = "import sys, polycast; print({'numpy', 'numba', 'msgspec', 'pyspark'} & sys.modules.keys())"
    loaded = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True).stdout
    assert loaded.strip() == "set()"
