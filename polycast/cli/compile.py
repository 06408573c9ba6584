"""``polycast compile``: compile the numeric kernels now, rather than at their first use."""

from collections.abc import Callable


def _placement() -> None:
    from polycast.place.warm import warm

    warm()


def _attachment() -> None:
    from polycast.overlay.warm import warm

    warm()


def _routing() -> None:
    from polycast.overlay.tapestry.warm import warm

    warm()


def _trees() -> None:
    from polycast.tree.warm import warm

    warm()


def _matching() -> None:
    from polycast.interest.index.warm import warm

    warm()


# One small job per room; running it compiles every kernel of the room.
WARMERS: list[Callable[[], None]] = [_placement, _attachment, _routing, _trees, _matching]


def compile_kernels() -> None:
    """Compile the numeric kernels now, so that no later command has to. Done once by `make`."""
    for warm in WARMERS:
        warm()
