"""Have the kernels of routing at hand, by a small overlay that does everything once."""

from polycast.overlay.dissemination import discover
from polycast.overlay.estimation import estimate
from polycast.overlay.networks.power_law import power_law
from polycast.overlay.tapestry.mesh import Tapestry


def warm() -> None:
    """Load the kernels from disk, or compile them where they are not there yet."""
    overlay = Tapestry.over(power_law(20, seed=1))
    overlay.leave(3)
    overlay.join(3)
    for grow in (discover, estimate):
        grow(overlay, 0, overlay.members)
