from pathlib import Path

import pytest

from polycast.errors import BadInput
from polycast.settings import default_home, read_settings


def test_a_flag_stands_before_the_environment_and_that_before_the_file(tmp_path: Path) -> None:
    (tmp_path / "polycast.toml").write_text('home = "data"\nnetwork = "net.toml"\nmaster = "local[1]"')
    environment = {"POLYCAST_MASTER": "local[2]"}
    settings = read_settings(environment, tmp_path)
    assert settings.folders.root == tmp_path / "data"
    assert settings.network_file == tmp_path / "net.toml"
    assert settings.master == "local[2]"
    assert (
        read_settings({"POLYCAST_MASTER": "local[2]"}, tmp_path, master="local[3]", home=None).master == "local[3]"
    )


def test_without_any_the_users_data_folder_is_the_home(tmp_path: Path) -> None:
    settings = read_settings({}, tmp_path)
    assert settings.folders.root.name == "polycast"
    assert settings.network_file == settings.folders.root / "network.toml"
    assert default_home({"XDG_DATA_HOME": "/data"}) == Path("/data/polycast")


def test_sparks_own_settings(tmp_path: Path) -> None:
    (tmp_path / "polycast.toml").write_text('[spark]\n"spark.driver.memory" = "2g"')
    assert read_settings({}, tmp_path).spark == {"spark.driver.memory": "2g"}
    assert read_settings({"POLYCAST_SPARK": "spark.a=1 spark.b=2"}, tmp_path).spark == {
        "spark.a": "1",
        "spark.b": "2",
    }


@pytest.mark.parametrize(
    ("text", "fault"),
    [("hme = 'x'", "polycast.toml"), ("home = 3", "polycast.toml, home"), ("home =", "polycast.toml")],
)
def test_a_fault_names_the_file(tmp_path: Path, text: str, fault: str) -> None:
    (tmp_path / "polycast.toml").write_text(text)
    with pytest.raises(BadInput) as error:
        read_settings({}, tmp_path)
    assert fault in error.value.where
    with pytest.raises(BadInput):
        read_settings({"POLYCAST_SPARK": "memory=2g"}, tmp_path / "elsewhere")
