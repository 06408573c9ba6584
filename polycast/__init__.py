"""Publish once, in one form; every subscriber gets what it asked for, in the form its device can use.

The journey of a publication, in order, and the room where each step lives:

1. ``interest``: who wants it, and in which form;
2. ``overlay``:  which broker each user hangs on, and where publications and interests meet;
3. ``tree``:     the way it will travel;
4. ``place``:    on which broker each conversion runs, at least cost;
5. ``convert``:  the conversions themselves, by real tools in a sandbox;
6. ``broker`` and ``deliver``: broker to broker, once per format, and to the subscriber;
7. ``pipeline``: all of it at scale, on Spark.

The nouns they share are in ``model``; ``rendezvous.plan`` decides everything about one publication.

The public names stand in ``__init__.pyi``; each is loaded when it is first asked for, so that a command and a
sandboxed worker load no more than they use.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

__version__ = "0.1.0"
