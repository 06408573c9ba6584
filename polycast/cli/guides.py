"""Where the guides are that the help of a command names."""

import sys
from pathlib import Path

import polycast


def _guides() -> str:
    """Where docs/ is: in the folder that we run from, else where an installer puts it."""
    here = Path(polycast.__file__).parents[1] / "docs"
    return f"Guides named docs/… are in {here if here.is_dir() else Path(sys.prefix) / 'share/doc/polycast'}"


GUIDES = _guides()
