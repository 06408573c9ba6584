"""The experiments on minimum cost overlays ask what they mean to ask."""

from collections import Counter

import numpy as np
import pytest

from papers.experiment import Journal, Run
from papers.overlay.experiments import (
    LITERAL,
    REDUCTION,
    carry_out_one,
    core_over_random_tree,
    spanning_trees,
    steiner_trees,
)
from papers.overlay.networks import network
from papers.overlay.parameters import ACCESS_TO_CORE, METHODS, NETWORKS, OURS, RUNS, USERS, quick_runs, runs
from papers.overlay.report import report
from polycast.overlay.attachment import Attachment, Cost, Overlay

SMALL = {"users": 200, "brokers": 4, "network": "power-law", "ratio": 1.0, "width": 0.0, "channels": 20}


def run_of(method: str, experiment: str = "scale", seed: int = 1, **setting: str | float) -> Run:
    return Run(experiment, seed, {**SMALL, **setting, "method": method})


def test_every_run_is_asked_for_once_and_every_setting_with_every_seed():
    planned = list(runs(2))
    assert len({run.key for run in planned}) == len(planned)
    assert {run.experiment for run in planned} == {"scale", "crowding", "links", "width", "channels", "relays"}
    assert set(Counter(str([run.experiment, run.setting]) for run in planned).values()) == {2}
    assert {run.setting["users"] for run in planned if run.experiment == "scale"} == set(USERS)
    assert {run.setting["method"] for run in planned} == set(METHODS)
    assert {run.setting["ratio"] for run in planned if run.experiment == "links"} == set(ACCESS_TO_CORE)
    assert {run.key for run in quick_runs()} < {run.key for run in runs(RUNS)}


@pytest.mark.parametrize("kind", NETWORKS)
def test_a_network_is_as_the_paper_describes_it(kind):
    overlay = network(3, {**SMALL, "network": kind, "ratio": 2.5, "users": 3000})
    assert np.ptp(overlay.capacity) == 0
    assert overlay.capacity.sum() == pytest.approx(2 * overlay.demand.sum())
    between = overlay.core_cost[~np.eye(overlay.brokers, dtype=bool)]
    assert overlay.access_cost.mean() / between.mean() == pytest.approx(2.5)
    assert overlay.detour() is None
    assert overlay.interest.mean() == pytest.approx(
        1 / 3 + 1 / 20, abs=0.03
    )  # and what the cells at both ends add


def test_channels_cut_the_same_network_more_or_less_finely():
    coarse, fine = network(1, SMALL), network(1, SMALL, 200)
    assert coarse.publishes.sum(axis=1) == pytest.approx(fine.publishes.sum(axis=1))
    assert (coarse.access_cost == fine.access_cost).all()
    assert (fine.interest.reshape(200, 20, 10).any(axis=2) == coarse.interest).all()
    assert network(1, {**SMALL, "width": 0.1}, 1000).interest.mean() == pytest.approx(0.1, abs=0.002)


def test_the_ratio_is_that_of_random_cost_to_the_methods():
    (row,) = carry_out_one(run_of("greedy"))
    (worst,) = carry_out_one(run_of("random"))
    assert row["total"] == row["access"] + row["core"]
    assert row[REDUCTION] == pytest.approx(worst["total"] / row["total"])
    assert row[LITERAL] >= row[REDUCTION] > 1
    assert row["seconds"] >= 0


@pytest.mark.parametrize("kind", NETWORKS)
def test_ours_is_never_dearer_than_theirs_and_nothing_goes_beyond_the_bound(kind):
    for seed in (1, 2):
        ratio = {
            method: carry_out_one(run_of(method, seed=seed, network=kind))[0][REDUCTION] for method in METHODS
        }
        assert max(ratio.values()) == ratio["bound"]
        assert ratio[OURS] == max(ratio[method] for method in ratio if method != "bound")


def test_random_trees_cost_what_they_must():
    overlay = network(1, {**SMALL, "brokers": 2})
    broker = np.arange(overlay.users, dtype=np.int32) % 2
    only_tree = Attachment(overlay, broker).cost
    assert only_tree == Cost(only_tree.access, pytest.approx(core_over_random_tree(overlay, broker, seed=1)))
    overlay = network(1, {**SMALL, "brokers": 20})
    broker = np.arange(overlay.users, dtype=np.int32) % 20
    assert core_over_random_tree(overlay, broker, seed=1) > Attachment(overlay, broker).cost.core


def test_relays_save_what_a_search_of_all_sets_says():
    run = run_of("greedy", "relays", brokers=5, width=0.03)
    (row,) = carry_out_one(run)
    (same,) = carry_out_one(run_of("greedy", brokers=5, width=0.03))
    assert row["core"] == pytest.approx(same["core"])
    assert 0 <= row["relays save %"] < 50
    # three brokers that are 2 apart, and a fourth that is 1 from each of them
    weight = steiner_trees(spanning_trees(star()))
    assert (weight[0b0111], weight[0b0011], weight[0b1111]) == (3, 2, 3)


def star() -> Overlay:
    cost = np.where(np.eye(4, dtype=bool), 0.0, 2.0)
    cost[3, :3] = cost[:3, 3] = 1.0
    return Overlay(np.ones((1, 1)), np.ones((1, 1), bool), np.ones((1, 4)), cost, np.full(4, np.inf))


def test_what_coarse_channels_find_is_paid_for_in_the_fine_space():
    setting = {"ratio": 0.01, "channels": 5}
    (coarse,) = carry_out_one(run_of("greedy", "channels", **setting))
    (fine,) = carry_out_one(run_of("greedy", "scale", **{**setting, "channels": 1000}))
    assert coarse["core"] == pytest.approx(fine["core"], rel=0.05)
    (seen,) = carry_out_one(run_of("greedy", "scale", **setting))
    assert seen["access"] > 1.1 * coarse["access"]  # in few channels everybody seems to want more


def test_the_report_has_a_table_and_a_picture_for_every_question(tmp_path):
    journal = Journal(tmp_path / "journal.jsonl")
    for seed in (1, 2):
        for method in METHODS:
            run = (
                run_of(method, seed=seed, users=USERS[-1], brokers=4)
                if method == "greedy"
                else run_of(method, seed=seed)
            )
            journal.record(run, carry_out_one(run))
    report(journal, tmp_path)
    written = {path.name for path in tmp_path.iterdir()}
    assert {"scale.csv", "scale.png", "times.csv"} <= written
    table = (tmp_path / "scale.csv").read_text().splitlines()
    wins = table[0].split(",").index("cheaper than mix % of networks")
    ours = next(line for line in table if ",local," in line).split(",")
    assert (ours[3], ours[wins]) == ("2", "100")
    above = table[0].split(",").index("above the lower bound %")
    bound, mixed = (next(line for line in table if f",{name}," in line).split(",") for name in ("bound", "mix"))
    assert 0 == float(bound[above]) <= float(ours[above]) < float(mixed[above])
    assert "greedy" in (tmp_path / "times.csv").read_text()
