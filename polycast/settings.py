"""Settings: a flag, else ``POLYCAST_…`` in the environment, else ``polycast.toml`` in the working folder."""

import os
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from polycast.errors import BadInput
from polycast.home import Home
from polycast.model import codec

FILE = "polycast.toml"
PREFIX = "POLYCAST_"


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What can be set once for all commands.

    Parameters
    ----------
    home
        The folder that all data, logs and caches live under.
    network
        The network file; by default ``network.toml`` in the home.
    master
        The Spark master; by default this machine.
    spark
        Spark's own settings.
    """

    home: str = ""
    network: str | None = None
    master: str | None = None
    spark: dict[str, str] = {}

    @property
    def folders(self) -> Home:
        """The home, as the folders in it."""
        return Home(Path(self.home or default_home(os.environ)).expanduser().absolute())

    @property
    def network_file(self) -> Path:
        """Where the network is described."""
        return Path(self.network).expanduser() if self.network else self.folders.root / "network.toml"


def read_settings(
    environment: Mapping[str, str] = os.environ, folder: Path | None = None, **flags: Any
) -> Settings:
    """Put the settings together. A flag that is None was not given."""
    document = _read_file((folder or Path()) / FILE)
    for name in Settings.__struct_fields__:
        if value := environment.get(PREFIX + name.upper()):
            document[name] = _options(value) if name == "spark" else value
    document |= {name: value for name, value in flags.items() if value is not None}
    return codec.convert(document, Settings, "settings")


def default_home(environment: Mapping[str, str]) -> Path:
    """The user's data folder, as the system has it."""
    if sys.platform == "darwin":
        return Path("~/Library/Application Support/polycast")
    return Path(environment.get("XDG_DATA_HOME") or "~/.local/share") / "polycast"


def spark_option(text: str, where: str = "spark") -> tuple[str, str]:
    """One of Spark's settings, as in ``spark.driver.memory=2g``."""
    name, equals, value = text.partition("=")
    if not equals or not name.startswith("spark."):
        raise BadInput(where, f"{text!r:.80} is not of the form spark.NAME=VALUE")
    return name.strip(), value.strip()


def _options(text: str) -> dict[str, str]:
    return dict(spark_option(part, PREFIX + "SPARK") for part in text.split())


def _read_file(path: Path) -> dict[str, Any]:
    """Paths in the file are meant from the folder that it stands in."""
    try:
        document = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise BadInput(str(path), str(error)) from None
    settings = codec.convert(document, Settings, str(path))
    for name in ("home", "network"):
        if value := getattr(settings, name):
            document[name] = str(path.parent / Path(value).expanduser())
    return document
