"""Slow, obvious truths with which the fast algorithms are compared."""
