"""The experiments of the papers that Polycast stands on, run again with its own code."""
