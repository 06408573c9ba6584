"""Where each conversion runs, at least cost."""
