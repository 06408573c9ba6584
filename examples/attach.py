"""Attach users to brokers from Python, prove it, and let the brokers follow when rates change."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from polycast.overlay import Attachment, document, settle, solve

FILE = Path(__file__).parent / "attach.json"
overlay = document.read(FILE.read_bytes(), FILE.name)


def tell(title: str, attachment: Attachment) -> None:
    print(f"{title}: cost {attachment.cost.total:.2f}, of which between brokers {attachment.cost.core:.2f}")
    pairs = zip(overlay.user_names, attachment.broker, strict=True)
    print("  " + ", ".join(f"{user} at {overlay.broker_name(broker)}" for user, broker in pairs))


tell("greedy", solve(overlay, "greedy").attachment)
best = solve(overlay, "exact")
tell("exact", best.attachment)
print(f"  nothing can cost less than {best.lower_bound:.2f}")

rising = replace(overlay, publishes=overlay.publishes * np.array([[4], [0], [1], [1], [1]]))
tell("the gauge is busy, the mayor silent", Attachment(rising, best.attachment.broker))
settled = settle(rising, best.attachment.broker)
for redirect in settled.redirects:
    home, other = overlay.broker_name(redirect.source), overlay.broker_name(redirect.target)
    print(f"  {home} sends {overlay.user_name(redirect.user)} to {other}")
tell("and then", settled.attachment)
