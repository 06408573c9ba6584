"""The way a stream travels: trees that keep readers fresh. ``grow`` builds them, one algorithm to a file."""

from polycast.model.tree import Tree
from polycast.tree.adapt import Round, adapt
from polycast.tree.coherency import Filter, effective_tolerances
from polycast.tree.decide import decide
from polycast.tree.divergence import DIVERGENCES, Divergence, Version, divergence
from polycast.tree.fidelity import Fidelity
from polycast.tree.forest import Change, Forest, Trees
from polycast.tree.grow import METHODS, Growth, evaluate, grow
from polycast.tree.model import APPROXIMATE, LossModel, Overhead
from polycast.tree.moves import KINDS, Move
from polycast.tree.servers import Servers
from polycast.tree.view import Load, Report, View, report_of, view_of

__all__ = [
    "APPROXIMATE",
    "DIVERGENCES",
    "KINDS",
    "METHODS",
    "Change",
    "Divergence",
    "Fidelity",
    "Filter",
    "Forest",
    "Growth",
    "Load",
    "LossModel",
    "Move",
    "Overhead",
    "Report",
    "Round",
    "Servers",
    "Tree",
    "Trees",
    "Version",
    "View",
    "adapt",
    "decide",
    "divergence",
    "effective_tolerances",
    "evaluate",
    "grow",
    "report_of",
    "view_of",
]
