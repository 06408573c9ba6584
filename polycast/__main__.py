"""``python -m polycast`` is the ``polycast`` command."""

from polycast.cli import main

main()
