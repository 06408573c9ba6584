"""The command line: arguments in, one answer out. One file to a command; no algorithm lives here.

Exit codes: 0 done; 2 bad input or usage; 3 no solution; 130 after Ctrl-C.
"""

from polycast.cli.app import main

__all__ = ["main"]
