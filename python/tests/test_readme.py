"""The sample of the client's README does what a reader is told that it does."""

import pathlib
import re
import subprocess
import sys

from conftest import WAIT_SEC, until

README = pathlib.Path(__file__).parents[1] / "README.md"


def sample():
    code = re.search(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL).group(1)
    assert "ensure_hub()" in code
    return code


def test_the_sample_speaks_at_once_and_shows_the_first_message(hub, client):
    code = sample().replace("ensure_hub()", repr({"base_url": hub.url}))
    run = [sys.executable, "-u", "-c", code]
    with subprocess.Popen(run, stdout=subprocess.PIPE, text=True, encoding="utf-8") as process:
        assert process.stdout.readline() == "dev-a has the parser\n"
        assert process.stdout.readline().startswith("waiting; in another terminal: hubcli post ")
        until(lambda: hub.parked() > 0, "the poll")
        with client("you") as other:
            other.post("general", "hello")
            words = process.stdout.readline()
        assert words == f"{other.agent_id} hello\n"
        assert process.wait(WAIT_SEC) == 0
