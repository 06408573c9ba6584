"""A broker carries out its part of a plan: a pure state machine, and its drivers."""
