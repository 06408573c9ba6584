"""The cheapest attachment, proved, by an integer program (HiGHS): for small networks.

A binary variable says whether a user hangs on a broker. All else are trees, which need no binary variables.
*Per publisher*, a tree is rooted at a user and ends at the subscribers of a channel. One unit flows to each end:
it enters the core at the root's broker, leaves it at the end's, and uses only links that the tree has bought. A
tree may enter a broker only if a subscriber is there, so that it has no relays. Once all users are attached, this
is the cheapest arborescence, whose linear program is whole (Edmonds). In a *shared* core, a tree has a link of the
one spanning tree if the root is on one side of it, and an end on the other.

Publishers that subscribe to a channel share its tree, rooted at any subscriber; so do channels with the same
subscribers.
"""

import atexit
import time
from collections import defaultdict
from typing import Any, NamedTuple

import highspy
import numpy as np

from polycast.errors import NoSolution
from polycast.overlay.attachment import SHARED, Attachment, Indices, Overlay
from polycast.overlay.core import Core, core_of
from polycast.overlay.local import attach_locally
from polycast.overlay.search import Search

# The program may have so many variables; the time to solve it grows much faster than they do.
VARIABLES = 200_000

# The cost of the attachment that is known at the start, in the program: HiGHS has absolute tolerances.
SCALE = 1_000.0
TOLERANCE = 1e-9
LOOK = 0.1


class MessageTree(NamedTuple):
    """All messages of some rate that travel from where one user is to where some others are.

    Parameters
    ----------
    stops
        The users at whose brokers the tree may stop: all subscribers.
    """

    root: int
    ends: tuple[int, ...]
    stops: tuple[int, ...]
    rate: float


def attach_exactly(search: Search) -> None:
    """Offer the cheapest attachment, and the proof."""
    trees = message_trees(search.overlay)
    _check_size(search.overlay, trees, search.core)
    attach_locally(search)
    assert search.best is not None
    if search.best.cost.total > 0:
        _Program(search.overlay, trees, search.core, SCALE / search.best.cost.total).solve(search)


def message_trees(overlay: Overlay) -> list[MessageTree]:
    """Every tree that the core may need, each once."""
    rates: defaultdict[tuple[int, tuple[int, ...]], float] = defaultdict(float)
    for channel in range(overlay.channels):
        subscribers = tuple(np.flatnonzero(overlay.interest[:, channel]).tolist())
        for publisher in np.flatnonzero(overlay.publishes[:, channel] if subscribers else []).tolist():
            root = subscribers[0] if overlay.interest[publisher, channel] else publisher
            rates[root, subscribers] += float(overlay.publishes[publisher, channel])
    trees = [
        MessageTree(root, tuple(user for user in subscribers if user != root), subscribers, rate)
        for (root, subscribers), rate in rates.items()
    ]
    return [tree for tree in trees if tree.ends]


def _check_size(overlay: Overlay, trees: list[MessageTree], core: str) -> None:
    links = overlay.brokers - 1 if core == SHARED else overlay.brokers * (overlay.brokers - 1)
    flows = len(trees) if core == SHARED else sum(1 + len(tree.ends) for tree in trees)
    if (variables := overlay.users * overlay.brokers + flows * links) > VARIABLES:
        raise NoSolution(
            f"exact is for small networks: its program would have {variables:,} variables, and {VARIABLES:,} are "
            "the most; local finds an attachment and says how far it may be from the cheapest"
        )


class _Program:
    """The integer program, a column and a row at a time."""

    def __init__(self, overlay: Overlay, trees: list[MessageTree], core: str, scale: float) -> None:
        self.overlay, self.scale = overlay, scale
        self.cost: list[float] = []
        self.upper: list[float] = []
        self.rows: list[tuple[float, float, list[tuple[int, float]]]] = []
        self.at = self._attachments()
        if core == SHARED:
            self._cut_shared_tree(trees)
        else:
            for tree in trees:
                self._grow(tree)

    def _column(self, cost: float = 0.0, upper: float = 1.0) -> int:
        self.cost.append(cost * self.scale)
        self.upper.append(upper)
        return len(self.cost) - 1

    def _row(self, lower: float, upper: float, terms: list[tuple[int, float]]) -> None:
        self.rows.append((lower, upper, terms))

    def _attachments(self) -> Indices:
        """Every user hangs on one broker that it can use; no broker has too much."""
        overlay = self.overlay
        demand, room = overlay.demand, overlay.room
        usable = np.isfinite(overlay.access_cost) & (demand[:, None] <= room)
        cost = np.where(usable, overlay.access_cost, 0.0) * demand[:, None]
        at = np.array(
            [
                [self._column(cost[u, b], float(usable[u, b])) for b in range(overlay.brokers)]
                for u in range(overlay.users)
            ],
            np.int32,
        ).reshape(overlay.users, overlay.brokers)
        for u in range(overlay.users):
            self._row(1.0, 1.0, [(column, 1.0) for column in at[u]])
        for b in np.flatnonzero(np.isfinite(room) & (room > 0)):
            self._row(-np.inf, 1.0, [(at[u, b], demand[u] / room[b]) for u in range(overlay.users)])
        return at

    def _grow(self, tree: MessageTree) -> None:
        """The links of one tree, and what flows over them to each end."""
        brokers = range(self.overlay.brokers)
        links = [(a, b) for a in brokers for b in brokers if a != b]
        bought = {link: self._column(tree.rate * self.overlay.core_cost[link]) for link in links}
        for b in brokers:
            into = [(bought[a, b], 1.0) for a in brokers if a != b]
            self._row(-np.inf, 0.0, into + [(self.at[stop, b], -1.0) for stop in tree.stops])
            self._row(-np.inf, 1.0, [*into, (self.at[tree.root, b], 1.0)])
        for end in tree.ends:
            flow = {link: self._column() for link in links}
            for link in links:
                self._row(-np.inf, 0.0, [(flow[link], 1.0), (bought[link], -1.0)])
            for b in brokers:
                net = [(flow[a, b], 1.0) for a in brokers if a != b] + [
                    (flow[b, a], -1.0) for a in brokers if a != b
                ]
                self._row(0.0, 0.0, [*net, (self.at[tree.root, b], 1.0), (self.at[end, b], -1.0)])

    def _cut_shared_tree(self, trees: list[MessageTree]) -> None:
        """A tree has a link of the shared one if its root and one of its ends are on different sides."""
        core = core_of(self.overlay.core_cost, SHARED)
        for below, side in _sides(core):
            for tree in trees:
                used = self._column(tree.rate * core.hop[below])
                root = [(self.at[tree.root, b], 1.0) for b in side]
                for end in tree.ends:
                    across = root + [(self.at[end, b], -1.0) for b in side]
                    self._row(-np.inf, 0.0, [*across, (used, -1.0)])
                    self._row(0.0, np.inf, [*across, (used, 1.0)])

    def solve(self, search: Search) -> None:
        """Solve, until the answer is within the capacities by our own measure; offer it, and what is proved."""
        model = self._model()
        model.cbMipImprovingSolution.subscribe(lambda event: self._offer(event.data_out.mip_solution, search))
        while True:
            self._start_from(model, search)
            _run(model, search)
            found = self._found(model, search)
            if model.getModelStatus() != highspy.HighsModelStatus.kOptimal:
                self._note_bound(model, search)
                return
            if found is None or not found.over:
                assert search.best is not None
                search.raise_bound(search.best.cost.total)
                return
            self._forbid(model, found)

    def _model(self) -> Any:
        model: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        model.setOptionValue("output_flag", False)
        model.setOptionValue("mip_rel_gap", 0.0)
        for name in ("mip_feasibility_tolerance", "primal_feasibility_tolerance", "dual_feasibility_tolerance"):
            model.setOptionValue(name, TOLERANCE)
        model.HandleUserInterrupt = True
        columns, whole = len(self.cost), self.at.ravel()
        model.addVars(columns, np.zeros(columns), np.array(self.upper))
        model.changeColsCost(columns, np.arange(columns, dtype=np.int32), np.array(self.cost))
        model.changeColsIntegrality(len(whole), whole, np.full(len(whole), 1, np.uint8))
        starts = np.cumsum([0] + [len(terms) for _, _, terms in self.rows])
        model.addRows(
            len(self.rows),
            np.array([lower for lower, _, _ in self.rows]),
            np.array([upper for _, upper, _ in self.rows]),
            int(starts[-1]),
            starts[:-1].astype(np.int32),
            np.array([column for _, _, terms in self.rows for column, _ in terms], np.int32),
            np.array([factor for _, _, terms in self.rows for _, factor in terms]),
        )
        return model

    def _start_from(self, model: Any, search: Search) -> None:
        """Tell the solver the best attachment that is known."""
        assert search.best is not None
        chosen = self.at[np.arange(self.overlay.users), search.best.broker]
        values = np.isin(self.at.ravel(), chosen).astype(np.float64)
        model.setSolution(self.at.size, self.at.ravel(), values)

    def _found(self, model: Any, search: Search) -> Attachment | None:
        """What the solver has found in the end, if anything."""
        if model.getInfo().primal_solution_status != highspy.SolutionStatus.kSolutionStatusFeasible:
            return None
        return self._offer(model.getSolution().col_value, search)

    def _offer(self, columns: Any, search: Search) -> Attachment:
        """Offer what the solver has found, if it is within the capacities by our own measure."""
        attachment = Attachment(self.overlay, np.array(columns)[self.at].argmax(axis=1), search.core)
        if not attachment.over:
            search.offer(attachment.broker)
        return attachment

    def _note_bound(self, model: Any, search: Search) -> None:
        """What is proved when the time is up."""
        bound = model.getInfo().mip_dual_bound / self.scale
        if np.isfinite(bound):
            search.raise_bound(bound * (1 - 1e-6))

    def _forbid(self, model: Any, found: Attachment) -> None:
        """The solver takes a little too much for rounding: not all users of such a broker may be there at once."""
        for b in found.over:
            crowd = self.at[found.broker == b, b]
            model.addRow(-np.inf, len(crowd) - 1.0, len(crowd), crowd, np.ones(len(crowd)))


def _run(model: Any, search: Search) -> None:
    """Let the solver work until it has proved its answer or the time is spent.

    After Ctrl-C it is told to stop, but in a linear program it does not listen: it is waited for when all else is
    done, because Python must not end while it runs.
    """
    if np.isfinite(search.deadline):
        model.setOptionValue("time_limit", model.getRunTime() + max(0.0, search.deadline - time.perf_counter()))
    try:
        model.startSolve()
        while not model.wait(LOOK)[0]:
            search.report(None, "proving")
    except KeyboardInterrupt:
        model.cancelSolve()
        atexit.register(model.wait)
        raise


def _sides(core: Core) -> list[tuple[int, list[int]]]:
    """For every link of the shared tree, the broker at its lower end, and all brokers on that side."""
    below: list[list[int]] = [[b] for b in range(len(core.order))]
    for b in core.order[:0:-1].tolist():
        below[core.above[b]] += below[b]
    return [(b, below[b]) for b in core.order[1:].tolist()]
