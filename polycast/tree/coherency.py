"""Coherency: every server forwards only what those below a child would notice (Fidelity, section 2.1).

A server is content while its copy is less than its tolerance away from the source's version. It forwards for its
whole subtree, so what it asks of its parent is the strictest tolerance in there: its *effective* one.

That the copies of a parent and a child are close is not enough, as the parent's may itself be off by anything
below its tolerance `c_p`. By the triangle inequality the child is surely content, within its own `c_q`, while
its copy is less than `c_q − c_p` from the parent's; beyond that the parent forwards (Shah, Ramamritham and
Shenoy, VLDB 2002, for numbers; it holds for every divergence that is a distance). The source is never off:
there `c_p` is 0. For a divergence that is no distance only the source filters, and the others pass on all
they get.
"""

import math
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field

from polycast.errors import BadInput
from polycast.model.tree import Tree
from polycast.tree.divergence import ABSOLUTE, Divergence, Version

UNWANTED = math.inf
ROUNDING = 1e-12  # the share of a tolerance by which sums of measured divergences may be too small


def effective_tolerances(tree: Tree, tolerances: Mapping[str, float]) -> dict[str, float]:
    """The strictest tolerance in everybody's subtree; infinite where nobody wants the object."""
    effective = [_checked(name, tolerances.get(name, UNWANTED)) for name in tree.names]
    for node in reversed(tree.order.tolist()):
        if node != tree.root:
            above = int(tree.parents[node])
            effective[above] = min(effective[above], effective[node])
    return dict(zip(tree.names, effective, strict=True))


def _checked(child: Hashable, tolerance: float) -> float:
    if not tolerance > 0:
        raise BadInput(f"tolerances.{child}", f"{tolerance} is not a number above 0")
    return tolerance


@dataclass
class _Child:
    tolerance: float
    copy: Version | None


@dataclass
class Filter:
    """What one server forwards of one object, and to whom.

    Parameters
    ----------
    divergence
        How far two versions are apart.
    tolerance
        The server's own effective tolerance, which its parent keeps to; 0 at the source.
    copy
        What the server has; None before the first message.
    """

    divergence: Divergence = ABSOLUTE
    tolerance: float = 0.0
    copy: Version | None = None
    _children: dict[Hashable, _Child] = field(default_factory=dict)

    def match(self, message: Version, child: Hashable) -> bool:
        """Whether a child, or somebody below it, might otherwise miss a violation of its tolerance."""
        below = self._children[child]
        if below.tolerance == UNWANTED:
            return False
        if below.copy is None:
            return True
        if self.tolerance > 0 and not self.divergence.metric:
            return below.copy != message
        apart = self.divergence(message, below.copy)
        return apart > 0 and apart + self.tolerance >= below.tolerance * (1 - ROUNDING)

    def receive(self, message: Version) -> list[Hashable]:
        """Take a new version; the children to forward it to, who count as having it from now on."""
        self.copy = message
        return self._forward(self._children)

    def keep_to(self, tolerance: float) -> list[Hashable]:
        """Have a new effective tolerance; the children that need the copy because it may now be off by more.

        When the tolerance grows say so here before the parent hears of it, and when it shrinks, after.
        """
        self.tolerance = tolerance
        return self._forward(self._children)

    def adopt(self, child: Hashable, tolerance: float, copy: Version | None = None) -> bool:
        """Serve a child that has ``copy``, with its effective tolerance; whether to send it ours now.

        Ours may be the older one: it is what this server can vouch for.
        """
        self._children[child] = _Child(_checked(child, tolerance), copy)
        return bool(self._forward([child]))

    def drop(self, child: Hashable) -> Version | None:
        """Serve a child no longer; what it has, for whoever serves it next."""
        return self._children.pop(child).copy

    def _forward(self, children: Iterable[Hashable]) -> list[Hashable]:
        if self.copy is None:
            return []
        chosen = [child for child in children if self.match(self.copy, child)]
        for child in chosen:
            self._children[child].copy = self.copy
        return chosen
