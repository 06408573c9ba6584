"""The demo, from end to end: every file is opened and verified as it is shown."""

import io
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from examples import demo
from polycast.home import Home
from tests.pipeline.publications import delivered, stray_files

ROOT = Path(__file__).parents[2]


@pytest.mark.usefixtures("spark")
def test_a_map_and_a_video_reach_everyone_with_a_bill(tmp_path: Path) -> None:
    said = io.StringIO()
    the_map, video = demo.main(tmp_path / "demo", Console(file=said, width=160))
    found = delivered(Home(tmp_path / "demo"))
    assert len(found) == the_map.delivered + video.delivered
    assert {one.form for one in found.values()} >= {"pdf", "jpg-640", "text", "announcement", "mp4-720", "mp4-360"}
    for account in (the_map, video):
        assert account.failed == ()
        assert account.matched == account.delivered + len(account.unserved)
        assert account.spent.cpu_seconds > 0
        assert account.planned["auto"].cost < min(account.planned[simple].cost for simple in demo.bill.SIMPLE)
    assert stray_files(Home(tmp_path / "demo")) == []
    for words in ("JPEG, 640 × 453", "speech of", "h264, 640 × 360", "The bill"):
        assert words in said.getvalue()


def test_the_commands_of_the_document(tmp_path: Path) -> None:
    document = (ROOT / "docs" / "pipeline.md").read_text()
    commands = document.partition("```sh\n")[2].partition("```")[0].splitlines()
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    printed = ""
    for command in commands:
        program, *arguments = shlex.split(command)
        start = [sys.executable] if program == "python" else [sys.executable, "-m", program]
        printed = subprocess.check_output([*start, *arguments], cwd=tmp_path, text=True, timeout=200)
    assert printed.rpartition(",")[0] in document, "what is printed but for the seconds"
    home = Home(tmp_path / "out" / "county")
    assert len(delivered(home)) == 29
    for folder in (home.inbox, home.mailboxes, home.plans, home.bills, home.archive, home.content, home.log):
        assert folder.exists()
        assert f"`{folder.relative_to(home.root)}" in document
