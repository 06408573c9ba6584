import numpy as np
import pytest

from polycast.errors import BadInput
from polycast.model.broker import AnyOf, Broker
from polycast.model.format import ContentGraph, Format, Operator
from polycast.model.plan import Plan, Step, plan_of
from polycast.model.problem import Problem, problem_of

MAPS = ContentGraph(
    formats=(Format(name="pdf", size=18.0), Format(name="jpg", size=3.0), Format(name="txt", size=None)),
    operators=(Operator("pdf", "jpg", 4.0), Operator("jpg", "txt", 2.0), Operator("txt", "jpg", 1.0)),
)
PROBLEM = problem_of(
    MAPS,
    [
        Broker("root"),
        Broker("hub", "root", link_cost=2.0, wants=("jpg",)),
        Broker("leaf", "hub", compute_cost=10.0, wants=("txt", AnyOf({"pdf": 0.0, "jpg": 7.0}))),
    ],
    "pdf",
    alpha=0.5,
    beta=2.0,
)
PDF, JPG, TXT = range(3)
STEPS = (
    Step("root", ("pdf",), (("pdf", "jpg"),), ()),
    Step("hub", ("jpg",), (), ("jpg",)),
    Step("leaf", ("jpg",), (("jpg", "txt"),), ("txt", "jpg")),
)


def changed(**cells: list[tuple[int, int, int]]) -> Plan:
    plan = plan_of(PROBLEM, STEPS)
    arrays = {"receives": plan.receives.copy(), "made_from": plan.made_from.copy()}
    for name, changes in cells.items():
        for broker, format, value in changes:
            arrays[name][broker, format] = value
    return Plan(PROBLEM, arrays["receives"], arrays["made_from"], plan.delivered)


def test_cost_follows_the_model() -> None:
    cost = plan_of(PROBLEM, STEPS).cost
    assert cost.transmission == 2 * 3 + 1 * 3
    assert cost.conversion == 1 * 4 + 10 * 2
    assert cost.penalty == 7
    assert cost.total == 0.5 * 9 + 2 * 24 + 7


def test_steps_round_trip() -> None:
    plan = plan_of(PROBLEM, STEPS)
    assert plan.fault() is None
    assert plan.steps == STEPS


def test_runs_stand_in_an_order_in_which_they_can_be_run() -> None:
    steps = (
        Step("root", ("pdf",), (("pdf", "jpg"), ("jpg", "txt")), ()),
        Step("hub", ("jpg",), (), ("jpg",)),
        Step("leaf", ("jpg",), (("jpg", "txt"),), ("txt", "jpg")),
    )
    problem = PROBLEM.replace(
        size=PROBLEM.size[::-1],
        conversion=PROBLEM.conversion[::-1, ::-1],
        published=2,
        format_names=("txt", "jpg", "pdf"),
    )
    problem = problem.replace(choice_format=2 - PROBLEM.choice_format)
    assert plan_of(problem, steps).steps[0].runs == (("pdf", "jpg"), ("jpg", "txt"))


@pytest.mark.parametrize(
    ("plan", "fault"),
    [
        (changed(receives=[(0, JPG, 1)]), 'broker "root": the root holds "jpg"'),
        (changed(made_from=[(1, PDF, JPG)]), 'broker "hub": no operator makes "pdf"'),
        (changed(made_from=[(0, JPG, TXT), (0, TXT, JPG)]), 'broker "root": "jpg" is made from what is not there'),
        (changed(receives=[(2, PDF, 1)]), 'broker "leaf": "pdf" is received, and the broker above does not'),
        (changed(made_from=[(1, TXT, JPG), (2, TXT, -1)], receives=[(2, TXT, 1)]), "cannot be sent"),
        (changed(made_from=[(2, TXT, -1)]), 'broker "leaf": "txt" is delivered, and it is not there'),
    ],
)
def test_an_invalid_plan_is_told_from_a_valid_one(plan: Plan, fault: str) -> None:
    assert fault in (plan.fault() or "valid")


def test_a_want_is_given_only_what_satisfies_it() -> None:
    plan = plan_of(PROBLEM, STEPS)
    wrong = Plan(PROBLEM, plan.receives, plan.made_from, np.array([JPG, JPG, JPG], np.int32))
    assert "does not satisfy" in (wrong.fault() or "valid")


@pytest.mark.parametrize(
    ("broker", "step", "reason"),
    [
        (2, Step("other", (), (), ()), "in its order"),
        (1, Step("hub", ("jpg",), (), ()), "one format per want"),
        (1, Step("hub", ("gif",), (), ("jpg",)), "'gif'"),
        (0, Step("root", ("pdf",), (("pdf", "jpg"), ("txt", "jpg")), ()), "made twice"),
    ],
)
def test_an_answer_of_another_problem_is_refused(broker: int, step: Step, reason: str) -> None:
    steps = list(STEPS)
    steps[broker] = step
    with pytest.raises(BadInput, match=reason):
        plan_of(PROBLEM, steps)


def test_a_root_alone() -> None:
    alone = problem_of(MAPS, [Broker("root", wants=("pdf",))], "pdf")
    plan = plan_of(alone, [Step("root", ("pdf",), (), ("pdf",))])
    assert plan.fault() is None
    assert plan.cost.total == 0
    assert isinstance(plan.problem, Problem)
