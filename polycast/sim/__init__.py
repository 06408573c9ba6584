"""Simulated time: the same broker core, driven by a clock, a network and a workload."""
