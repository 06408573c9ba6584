"""The experiments of CCD, each a function from a run to rows of what was measured."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from papers.ccd.parameters import LARGE, LONG_ROUNDS, LOOKS, PUBLISHED, ROUNDS, SELECTION_ROUNDS
from papers.ccd.scene import Charge, discovered, moved, problem_on, scaled_graph, scene
from papers.experiment import Row, Run
from polycast.model.problem import Problem
from polycast.overlay.dissemination import discover
from polycast.overlay.estimation import agreement, estimate, hops_of_links
from polycast.overlay.networks.heterogeneity import KINDS
from polycast.place import Solution, solve

SIMPLE = ("all-in-leaves", "all-in-root", "single-format")


def savings(run: Run) -> list[Row]:
    """What a method saves over the simple plans, its own time and the probes charged (sections 6.3, figure 7)."""
    at = run.setting
    problem, charge = discovered(run.seed, at["ratio"], at["graph"], at["weight"], at["scaling"])
    found, seconds = _timed(problem, at["method"], iterations=ROUNDS)
    simple = {name: solve(problem, name).plan.cost.total for name in SIMPLE}
    total = charge.total(found.plan.cost.total, seconds)
    over = {f"saving over {name} %": _less(total, cost) for name, cost in simple.items()}
    return [{"cost": total, **simple, **over, "seconds": seconds, "proved": float(found.optimal)}]


def quality(run: Run) -> list[Row]:
    """How much refinement costs above the optimum, round by round (figure 9)."""
    at = run.setting
    problem, _ = discovered(run.seed, at["ratio"], at["graph"], 1.0, "mean")
    best = solve(problem, "exact").plan.cost.total
    return [
        {"round": round_, "above the optimum %": -_less(cost, best)}
        for round_, cost in _history(problem, ROUNDS, depth=at["depth"])
    ]


def selection(run: Run) -> list[Row]:
    """How fast SLACK and RANDOM improve the first plan (figure 11)."""
    at = run.setting
    problem, _ = discovered(run.seed, at["ratio"], LARGE, 1.0, "mean")
    history = _history(problem, SELECTION_ROUNDS, select=at["select"], seed=run.seed)
    first = history[0][1]
    return [{"round": round_, "improvement %": _less(cost, first)} for round_, cost in history]


def endings(run: Run) -> list[Row]:
    """Where SLACK and RANDOM end when they have all the rounds that they want."""
    problem, _ = discovered(run.seed, run.setting["ratio"], LARGE, 1.0, "mean")
    slack, random = (
        solve(problem, "refine", select=select, iterations=LONG_ROUNDS, seed=run.seed).plan.cost.total
        for select in ("slack", "random")
    )
    return [{"slack": slack, "random": random, "random above slack %": -_less(random, slack)}]


def trees(run: Run) -> list[Row]:
    """Plans on the tree that probes discover, and on the one that the root estimates (our question)."""
    at = run.setting
    graph, scale = scaled_graph(at["graph"], "mean")
    here = scene(run.seed, at["ratio"], graph)
    real = discover(here.overlay, here.root, here.receivers)
    guess = estimate(here.overlay, here.root, here.receivers)
    optimum = _best(problem_on(real, here, graph, PUBLISHED[at["graph"]], at["weight"]))
    supposed = problem_on(guess, here, graph, PUBLISHED[at["graph"]], at["weight"])
    plan = solve(supposed, at["method"]).plan
    truth = moved(plan, supposed.replace(link_cost=hops_of_links(here.overlay, guess).astype(np.float64)))
    probes = Charge(scale, real.probe_megabytes, at["weight"]).probes
    return [
        {
            "same parent %": 100 * agreement(real, guess),
            "brokers discovered": float(len(real.tree)),
            "brokers estimated": float(len(guess.tree)),
            "hops of a supposed link": float(hops_of_links(here.overlay, guess)[1:].mean()),
            "probes": float(real.probes),
            "probes cost %": 100 * probes / optimum,
            "estimated plan supposes %": -_less(plan.cost.total, optimum),
            "estimated plan costs %": -_less(truth, optimum),
        }
    ]


def heterogeneity(run: Run) -> list[Row]:
    """What a plan gains from knowing that links and brokers are unlike (appendix E, figure 10)."""
    at = run.setting
    alike, _ = discovered(run.seed, at["ratio"], LARGE, 1.0, "mean")
    rng = np.random.default_rng([run.seed, at["ratio"], 1])
    link_cost, compute_cost = KINDS[at["kind"]](alike.brokers, alike.brokers, rng)
    link_cost = np.minimum(link_cost, 10 / at["floor"]) if at["floor"] else link_cost
    unlike = alike.replace(link_cost=link_cost, compute_cost=compute_cost)
    blind = moved(solve(alike, at["method"], iterations=ROUNDS).plan, unlike)
    aware = solve(unlike, at["method"], iterations=ROUNDS).plan.cost.total
    return [{"reduction %": _less(aware, blind)}]


EXPERIMENTS: dict[str, Callable[[Run], list[Row]]] = {
    experiment.__name__: experiment for experiment in (savings, quality, selection, endings, trees, heterogeneity)
}


def carry_out_one(run: Run) -> list[Row]:
    """Any run of any experiment."""
    return EXPERIMENTS[run.experiment](run)


def _best(problem: Problem) -> float:
    return solve(problem, "exact").plan.cost.total


def _timed(problem: Problem, method: Any, **options: Any) -> tuple[Solution, float]:
    """A solution, and the processor seconds that it took, which neighbours on the machine do not lengthen."""
    solve(_smallest(problem), method)  # loads the kernels
    start = time.process_time()
    return solve(problem, method, **options), time.process_time() - start


def _smallest(problem: Problem) -> Problem:
    """The root alone, which wants what is published."""
    return Problem(
        size=problem.size,
        conversion=problem.conversion,
        parent=np.array([-1]),
        link_cost=np.ones(1),
        compute_cost=np.ones(1),
        want_start=np.array([0, 1]),
        choice_start=np.array([0, 1]),
        choice_format=np.array([problem.published]),
        choice_penalty=np.zeros(1),
        published=problem.published,
    )


def _history(problem: Problem, rounds: int, **options: Any) -> list[tuple[int, float]]:
    """The cost of the first plan and that after some of the rounds of refinement."""
    first = solve(problem, "refine", iterations=0, **options).plan.cost.total
    history = solve(problem, "refine", iterations=rounds, history=True, **options).history or ()
    costs = [first, *history]
    return [(round_, costs[round_]) for round_ in LOOKS if round_ < len(costs)]


def _less(cost: float, than: float) -> float:
    """By how many percent a cost is below another."""
    return 100 * (than - cost) / than
