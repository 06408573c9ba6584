"""A warm worker: a process that has the tools loaded, and lends a copy of itself to every run.

Three processes: the *worker* lives long and never touches content; for every run it forks a *warden*, which
watches (see ``warden``); the warden forks the *run* itself, confined, which may crash, hang or be killed.
"""

import gc
import importlib
import os
import sys
from pathlib import Path

from polycast.convert import confinement, messages, warden
from polycast.convert.messages import Answer, Ready, Request


def main() -> None:
    """Say that we are ready, then serve one request after the other until the pool hangs up."""
    asked, answers = messages.Inbox(0), os.dup(1)
    os.dup2(2, 1)  # whatever a tool prints must not look like an answer
    for module in sys.argv[1:]:
        importlib.import_module(module)
    gc.freeze()  # what is loaded is shared with every run; collecting it would copy it into each
    isolation = confinement.isolate()
    messages.send(answers, Ready(isolation))
    while isinstance(request := asked.wait(), Request):
        serve(request, isolation, answers)


def serve(request: Request, isolation: confinement.Isolation, answers: int) -> None:
    """Let a warden see one run through."""
    try:
        importlib.import_module(request.entry.partition(":")[0])
    except Exception as error:
        messages.send(answers, Answer("Crashed", f"the tool does not load: {type(error).__name__}: {error}"[:300]))
        return
    child = os.fork()
    if child == 0:
        status = 1
        try:
            confinement.die_with_parent()
            os.chdir(Path(request.folder))
            warden.Warden(request, isolation, answers).watch()
            status = 0
        finally:
            os._exit(status)
    if os.waitpid(child, 0)[1] != 0:
        messages.send(answers, Answer("Crashed", "the warden of the run was lost"))


if __name__ == "__main__":
    main()
