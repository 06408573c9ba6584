import re
from typing import NoReturn

import pytest

from polycast.errors import BadInput
from polycast.model.format import ContentGraph, Format
from polycast.model.network import Network, read_network

GRAPH = ContentGraph(
    formats=(
        Format(name="pdf", size=1.0, media_type="application/pdf"),
        Format(name="mp4", size=9.0, media_type='video/mp4; codecs="avc1"'),
    ),
    operators=(),
)
SMALL = """
graphs = ["maps"]
alpha = 2
[[broker]]
name = "top"
[[broker]]
name = "left"
parent = "top"
link_cost = 3.0
[[broker]]
name = "right"
parent = "top"
[[broker]]
name = "far-left"
parent = "left"
[[user]]
name = "ana"
broker = "far-left"
filters = [{exact = {type = "map"}}]
profile = {accept = "image/jpeg", max_width = 800}
[[user]]
name = "ben"
broker = "right"
"""


def read(text: str) -> Network:
    return read_network(text.encode(), "net.toml", {"maps": GRAPH}.__getitem__)


def test_a_network_is_read() -> None:
    network = read(SMALL)
    assert [broker.name for broker in network.brokers] == ["top", "left", "right", "far-left"]
    assert network.brokers[1].link_cost == 3.0
    assert network.by_user["ana"].broker == "far-left"
    assert network.by_user["ana"].subscription.profile.max_width == 800
    assert network.by_user["ben"].subscription.filters == ()
    assert (network.alpha, network.beta) == (2.0, 1.0)


def test_the_tree_is_cut_down_to_the_receivers() -> None:
    network = read(SMALL)
    assert [broker.name for broker in network.tree_to(["far-left"])] == ["top", "left", "far-left"]
    assert [broker.name for broker in network.tree_to(["right", "top"])] == ["top", "right"]
    assert [broker.name for broker in network.tree_to([])] == ["top"]


def test_content_finds_its_form_by_its_media_type() -> None:
    network = read(SMALL)
    assert network.form_of("application/pdf") == "pdf"
    assert network.form_of("video/mp4") == "mp4"
    assert network.form_of('video/mp4; codecs="avc1.64001F"') == "mp4"
    assert network.form_of('video/mp4; codecs="vp9"') is None
    assert network.form_of("image/png") is None


FAULTS = {
    "a = ": "net.toml: not TOML: ",
    "wrong = 1": "net.toml: unknown key `wrong`",
    "version = 2": "net.toml, version: 2 is not a version",
    "alpha = -1.0": "net.toml, alpha: -1.0 is not a finite weight",
    "alpha = nan": "net.toml, alpha: nan is not a finite weight",
    "beta = true": "net.toml, beta: True is not a finite weight",
    "graphs = 3": "net.toml, graphs: expected an array",
    'graphs = ["nowhere"]': "nowhere: no such graph",
    "broker = 3": "net.toml, broker: expected tables",
    "": "net.toml, [[broker]]: there is no broker",
    '[[broker]]\nparent = "a"': "net.toml, [[broker]] number 1: Object missing required field `name`",
    '[[broker]]\nname = ""': "net.toml, [[broker]] number 1: a broker needs a name",
    '[[broker]]\nname = "a"\nlink = 1.0': 'net.toml, [[broker]] "a": Object contains unknown field `link`',
    '[[broker]]\nname = "a"\nwants = ["pdf"]': 'net.toml, [[broker]] "a", wants: what is wanted is said',
    '[[broker]]\nname = "a"\n[[broker]]\nname = "a"': 'net.toml, [[broker]] "a": a second broker named "a"',
    '[[broker]]\nname = "a"\n[[broker]]\nname = "b"': 'net.toml, [[broker]] "b": a second root',
    '[[broker]]\nname = "a"\nparent = "x"': 'net.toml, [[broker]] "a", parent: no broker is named "x"',
    '[[broker]]\nname = "a"\nparent = "a"': "net.toml, [[broker]]: no root",
    '[[broker]]\nname = "a"\n[[broker]]\nname = "b"\nparent = "b"': 'net.toml, [[broker]] "b", parent: "b" hangs',
    '[[broker]]\nname = "a"\nlink_cost = -1.0': 'net.toml, [[broker]] "a", link_cost: -1.0 is not a finite number',
    '[[user]]\nbroker = "a"': "net.toml, [[user]] number 1: a user needs a `name`",
    '[[user]]\nname = "u"': 'net.toml, [[user]] "u": a user needs a `broker`',
    '[[user]]\nname = "u"\nbroker = "a"\nage = 3': 'net.toml, [[user]] "u": unknown key `age`',
    '[[broker]]\nname = "a"\n[[user]]\nname = "u"\nbroker = "b"': (
        'net.toml, [[user]] "u", broker: no broker is named "b"'
    ),
    '[[broker]]\nname = "a"\n[[user]]\nname = "u"\nbroker = "a"\n[[user]]\nname = "u"\nbroker = "a"': (
        'net.toml, [[user]] "u": a second user'
    ),
    '[[user]]\nname = "u"\nbroker = "a"\nfilters = [{exactly = {type = "x"}}]': (
        'net.toml, [[user]] "u", filters[0]: unknown filter dialect `exactly`'
    ),
    '[[user]]\nname = "u"\nbroker = "a"\nprofile = {max_width = 0}': (
        'net.toml, [[user]] "u", profile.max_width: 0 is not more than 0'
    ),
}


@pytest.mark.parametrize("text", FAULTS)
def test_a_fault_names_the_file_the_table_and_the_reason(text: str) -> None:
    def load(name: str) -> NoReturn:
        raise BadInput(name, "no such graph")

    with pytest.raises(BadInput, match=re.escape(FAULTS[text])) as raised:
        read_network(text.encode(), "net.toml", load)
    assert str(raised.value).startswith("net.toml")


def test_two_graphs_may_not_share_a_form() -> None:
    text = 'graphs = ["a", "b"]\n[[broker]]\nname = "top"'
    with pytest.raises(BadInput, match='graphs: two graphs have a format named "mp4"'):
        read_network(text.encode(), "net.toml", lambda _: GRAPH)


def test_text_that_is_not_utf8_is_refused() -> None:
    with pytest.raises(BadInput, match="not UTF-8 text"):
        read_network(b"\xff", "net.toml", lambda _: GRAPH)
