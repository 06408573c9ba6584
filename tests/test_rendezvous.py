from pathlib import Path

import pytest

from polycast import networks, rendezvous
from polycast.interest import dialects
from polycast.model.network import Network
from polycast.model.plan import Plan
from polycast.model.publication import Content, Event, Publication
from polycast.place import solve

NETWORK = Path(__file__).parents[1] / "examples" / "network.toml"


@pytest.fixture(scope="module")
def network() -> Network:
    return networks.load(NETWORK)


def publication(form: str, size: int, **attributes: str) -> Publication:
    event = Event({"id": "1", "source": "/county", "specversion": "1.0", "type": "org.example.map"} | attributes)
    return Publication(event, Content("0" * 64, form, size))


def plan(network: Network, published: Publication) -> Plan:
    attributes = published.event.attributes
    matches = [user.name for user in network.users if dialects.accepts(user.subscription.filters, attributes)]
    return rendezvous.plan(published, matches, network)


@pytest.mark.parametrize(("form", "size"), [("pdf", 27_907), ("text", 500), ("mp4-720", 1_500_000)])
def test_everyone_who_matches_is_served_or_told_why(network: Network, form: str, size: int) -> None:
    published = publication(form, size, severity="high", subject="canyon")
    planned = plan(network, published)
    served = {delivery.subscription for delivery in planned.deliveries}
    unserved = {one.subscription for one in planned.unserved}
    matches = {
        user.name
        for user in network.users
        if dialects.accepts(user.subscription.filters, published.event.attributes)
    }
    assert planned.fault() is None
    assert served | unserved == matches
    assert not served & unserved


def test_deliveries_are_what_the_plan_delivers(network: Network) -> None:
    planned = plan(network, publication("pdf", 27_907, subject="canyon"))
    promised = {(step.name, form) for step in planned.steps for form in step.delivers}
    assert {(delivery.broker, delivery.format) for delivery in planned.deliveries} == promised
    assert all(network.by_user[one.subscription].broker == one.broker for one in planned.deliveries)


def test_every_form_suits_its_device(network: Network) -> None:
    planned = plan(network, publication("mp4-720", 1_000_000, type="org.example.video"))
    graph = network.graph_of["mp4-720"]
    for delivery in planned.deliveries:
        profile = network.by_user[delivery.subscription].subscription.profile
        assert (graph[delivery.format].width or 0) <= (profile.max_width or 10**6)
        assert (graph[delivery.format].height or 0) <= (profile.max_height or 10**6)


def test_no_simple_plan_is_cheaper(network: Network) -> None:
    planned = plan(network, publication("pdf", 27_907, severity="high"))
    for method in ("all-in-root", "all-in-leaves", "single-format"):
        assert planned.cost.total <= solve(planned.problem, method).plan.cost.total + 1e-9


def test_brokers_where_nobody_wants_anything_are_left_out(network: Network) -> None:
    planned = rendezvous.plan(publication("pdf", 1000), ["crew-pager"], network)
    assert list(planned.problem.broker_names) == ["county", "north", "engine-7"]


def test_nobody_wants_it(network: Network) -> None:
    planned = rendezvous.plan(publication("pdf", 1000), [], network)
    assert planned.deliveries == ()
    assert planned.cost.total == 0.0


def test_a_form_that_no_graph_knows_goes_to_those_who_take_it_as_it_is(network: Network) -> None:
    planned = rendezvous.plan(publication("application/zip", 1000), ["archive", "radio-north"], network)
    assert [delivery.subscription for delivery in planned.deliveries] == ["archive"]
    assert [one.subscription for one in planned.unserved] == ["radio-north"]


def test_larger_content_costs_more(network: Network) -> None:
    small, large = (plan(network, publication("pdf", size)).cost for size in (10_000, 1_000_000))
    assert large.transmission > small.transmission
