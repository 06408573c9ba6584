"""Tapestry (Zhao et al., 2004): from any broker to the one that is responsible for a key, digit by digit."""

from polycast.overlay.tapestry.identifiers import DIGITS, identifiers, key_of
from polycast.overlay.tapestry.mesh import Tapestry
from polycast.overlay.tapestry.proximity import Space, space_of
from polycast.overlay.tapestry.routing import Routes

__all__ = ["DIGITS", "Routes", "Space", "Tapestry", "identifiers", "key_of", "space_of"]
