"""The experiments of CCD ask what they mean to ask."""

from collections import Counter

import numpy as np
import pytest

from papers.ccd.experiments import EXPERIMENTS, carry_out_one
from papers.ccd.parameters import LARGE, RATIOS, SMALL, runs
from papers.ccd.report import report
from papers.ccd.scene import discovered, scaled_graph, scene
from papers.experiment import Journal, Run
from polycast.model.problem import Problem
from polycast.place import solve


def test_every_run_is_asked_for_once_and_every_experiment_has_some():
    planned = list(runs(2))
    assert len({run.key for run in planned}) == len(planned)
    assert Counter(run.experiment for run in planned).keys() == EXPERIMENTS.keys()
    assert {run.setting["ratio"] for run in planned} == set(RATIOS)


def test_a_scene_has_its_matching_ratio_and_at_most_a_quarter_of_the_formats():
    graph, _ = scaled_graph(LARGE, "mean")
    here = scene(3, 30, graph, brokers=200)
    assert len(here.wants) == 60
    assert {len(wants) for wants in here.wants.values()} == {1, 2, 3, 4}
    assert here.wants == scene(3, 30, graph, brokers=200).wants


@pytest.mark.parametrize("name", [SMALL, LARGE])
def test_scaling_makes_an_average_format_and_an_average_operator_cost_one(name):
    graph, _ = scaled_graph(name, "mean")
    assert np.mean([format.size for format in graph.formats]) == pytest.approx(1)
    assert np.mean([operator.cost for operator in graph.operators]) == pytest.approx(1)
    graph, _ = scaled_graph(name, "paper")
    assert max(format.size for format in graph.formats) == pytest.approx(30)
    assert max(operator.cost for operator in graph.operators) == pytest.approx(60)


def test_savings_charge_the_time_and_the_probes():
    setting = {"graph": SMALL, "ratio": 10, "weight": 1.0, "scaling": "mean", "method": "exact"}
    (row,) = carry_out_one(Run("savings", 1, setting))
    problem, charge = discovered(1, 10, SMALL, 1.0, "mean")
    assert row["proved"] == 1
    assert charge.probes > 0
    assert row["cost"] == pytest.approx(charge.total(0, row["seconds"]) + optimum(problem))
    assert row["saving over all-in-leaves %"] == pytest.approx(100 * (1 - row["cost"] / row["all-in-leaves"]))


def optimum(problem: Problem) -> float:
    return solve(problem, "exact").plan.cost.total


def test_refinement_never_goes_below_the_optimum_nor_up():
    rows = carry_out_one(Run("quality", 1, {"graph": SMALL, "ratio": 10, "depth": 1}))
    costs = [row["above the optimum %"] for row in rows]
    assert costs == sorted(costs, reverse=True)
    assert costs[-1] >= -1e-9


def test_an_estimated_plan_supposes_less_than_it_costs(tmp_path):
    run = Run("trees", 1, {"graph": SMALL, "ratio": 30, "weight": 1.0, "method": "exact"})
    (row,) = carry_out_one(run)
    assert row["estimated plan supposes %"] < row["estimated plan costs %"]
    journal = Journal(tmp_path / "journal.jsonl")
    journal.record(run, [row])
    assert Journal(journal.path).rows("trees") == journal.rows("trees")


def test_the_optimum_that_knows_the_costs_is_not_dearer():
    setting = {"ratio": 10, "kind": "strong", "floor": 0.0, "method": "exact"}
    (row,) = carry_out_one(Run("heterogeneity", 1, setting))
    assert row["reduction %"] >= 0


def test_the_report_has_a_table_and_a_picture_for_every_question(tmp_path):
    journal = Journal(tmp_path / "journal.jsonl")
    for run in runs(1, ratios=(10,), slow=False):
        if run.setting.get("graph") == SMALL or (run.experiment == "selection" and run.setting["ratio"] == 10):
            journal.record(run, carry_out_one(run))
    report(journal, tmp_path)
    written = {path.name for path in tmp_path.iterdir()}
    for question in ("savings", "quality", "selection", "trees"):
        assert {f"{question}.csv", f"{question}.png"} <= written
    header = (tmp_path / "savings.csv").read_text().splitlines()[0]
    assert header.startswith("graph,method,scaling,α/β,matching ratio %,runs,cost")
