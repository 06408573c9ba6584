"""Conversions by real tools, in a sandbox, and what they cost.

A way through the room: ``catalogue`` names the forms, ``registry`` the tools between them; a ``Converter``
takes content from a ``ContentStore`` and asks its ``Pool`` to run a tool; ``worker``, ``warden`` and
``confinement`` are the sandbox in which it runs; ``tools`` are what runs. ``calibrate`` measures what all of it
costs, and ``graphs`` has the measured graphs that are shipped.
"""
