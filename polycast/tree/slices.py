"""How much a kernel may do before it comes back: about a twentieth of a second, so that Ctrl-C works."""

import time

AIM = 0.05


class Slices:
    """Adapts the size of a slice of work to the time that the last one took."""

    def __init__(self, size: int = 1) -> None:
        self.size = size
        self._since = time.perf_counter()

    def done(self, amount: int) -> None:
        """Say that a slice is done; the next may be of another size."""
        now = time.perf_counter()
        took, self._since = max(now - self._since, 1e-6), now
        self.size = max(1, min(int(amount * AIM / took), 2 * amount + 1))
