"""How brokers and users are wired: ``solve`` attaches users to brokers, one algorithm to a file; with ``settle``
the brokers do it by themselves.

Networks, rendezvous points and the trees that routes make are modules of their own: see docs/overlay.md.
"""

from polycast.overlay.attachment import CORES, Attachment, Cost, Overlay
from polycast.overlay.migration import Redirect, Settled, Turn, View, settle, view_of
from polycast.overlay.solve import METHODS, Solution, evaluate, solve

__all__ = [
    "CORES",
    "METHODS",
    "Attachment",
    "Cost",
    "Overlay",
    "Redirect",
    "Settled",
    "Solution",
    "Turn",
    "View",
    "evaluate",
    "settle",
    "solve",
    "view_of",
]
