"""Outboxes: what is owed to a subscriber, until it is acknowledged."""
