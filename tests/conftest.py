"""What holds for all tests."""

import signal

# A shell lets what it starts in the background ignore Ctrl-C, and the commands under test would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
