"""The way that publications travel: a tree of named nodes, kept as an array of parents."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from polycast.errors import BadInput

Positions = npt.NDArray[np.int32]

ROOT = -1


@dataclass(frozen=True, eq=False)
class Tree:
    """A rooted tree over ``names``: ``parents[i]`` is the position of the node above `i`, and -1 at the root."""

    names: Sequence[str]
    parents: Positions

    def __post_init__(self) -> None:
        parents: npt.NDArray[Any] = np.array(self.parents, np.int32)
        parents.flags.writeable = False
        object.__setattr__(self, "parents", parents)
        object.__setattr__(self, "names", tuple(self.names))
        _check(self)

    @classmethod
    def of(cls, root: str, parents: Mapping[str, str], where: str = "parents") -> "Tree":
        """The tree in which every key hangs below its value; all hang, in the end, below ``root``."""
        names = (root, *parents)
        if root in parents:
            raise BadInput(f"{where}.{root}", "the root has no parent")
        position = {name: i for i, name in enumerate(names)}
        for name, parent in parents.items():
            if parent not in position:
                raise BadInput(f"{where}.{name}", f'"{parent}" is not in the tree')
        try:
            return cls(names, np.array([ROOT, *(position[parent] for parent in parents.values())], np.int32))
        except BadInput as error:
            raise BadInput(where, error.why) from None

    def __len__(self) -> int:
        return len(self.names)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Tree)
            and self.names[self.root] == other.names[other.root]
            and (self.as_mapping() == other.as_mapping())
        )

    def __hash__(self) -> int:
        return hash((self.names[self.root], frozenset(self.as_mapping().items())))

    @cached_property
    def root(self) -> int:
        """The position of the one node that has no parent."""
        return int(np.flatnonzero(self.parents == ROOT)[0])

    @cached_property
    def depths(self) -> Positions:
        """How many links lie between each node and the root; -1 where a circle keeps it from the root."""
        up = np.where(self.parents == ROOT, self.root, self.parents)
        depths = (self.parents != ROOT).astype(np.int64)
        for _ in range(len(self).bit_length()):  # every round doubles how far up each node has looked
            depths, up = depths + depths[up], up[up]
        return np.where(up == self.root, depths, -1).astype(np.int32)

    @cached_property
    def order(self) -> Positions:
        """All nodes, level by level: every parent stands before its children."""
        return np.argsort(self.depths, kind="stable").astype(np.int32)

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """The nodes directly below each node, in order of position."""
        below: list[list[int]] = [[] for _ in self.names]
        for child, parent in enumerate(self.parents.tolist()):
            if parent != ROOT:
                below[parent].append(child)
        return tuple(map(tuple, below))

    @property
    def height(self) -> int:
        """The length of the longest path from the root."""
        return int(self.depths.max())

    def as_mapping(self) -> dict[str, str]:
        """The name above every name but the root's, in order of position."""
        return {
            name: self.names[parent]
            for name, parent in zip(self.names, self.parents.tolist(), strict=True)
            if parent != ROOT
        }


def _check(tree: Tree) -> None:
    count = len(tree.names)
    if tree.parents.shape != (count,):
        raise BadInput("parents", f"{tree.parents.shape} parents for {count} nodes")
    if len(set(tree.names)) < count:
        raise BadInput("names", "a name stands twice")
    if ((tree.parents < ROOT) | (tree.parents >= count)).any():
        raise BadInput("parents", "a parent that is not a node of the tree")
    roots = np.count_nonzero(tree.parents == ROOT)
    if roots != 1:
        raise BadInput("parents", f"{roots} roots; a tree has exactly one")
    lost = np.flatnonzero(tree.depths < 0)
    if len(lost):
        raise BadInput("parents", f'"{tree.names[lost[0]]}" hangs in a circle that never reaches the root')
