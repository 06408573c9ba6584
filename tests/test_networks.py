"""Network files as the commands open them."""

from pathlib import Path

import pytest

from polycast import networks
from polycast.errors import BadInput

BROKER = '[[broker]]\nname = "a"\n'
USER = f'{BROKER}[[user]]\nname = "u"\nbroker = "a"\n'


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (f'{USER}filters = [{{sql = "severity ="}}]', '[[user]] "u", sql, column'),
        (f'{USER}filters = [{{any = [{{not = {{sql = "("}}}}]}}]', '[[user]] "u", sql, column'),
        (f'graphs = ["gone.json"]\n{BROKER}', "gone.json"),
        (f"{BROKER}link_cost = -1", '[[broker]] "a", link_cost'),
    ],
)
def test_a_fault_is_found_before_anything_starts(tmp_path: Path, text: str, fault: str) -> None:
    file = tmp_path / "network.toml"
    file.write_text(text)
    with pytest.raises(BadInput) as raised:
        networks.load(file)
    assert str(raised.value).startswith(str(file))
    assert fault in str(raised.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"gone\.toml: No such file"):
        networks.load(tmp_path / "gone.toml")
