"""What tests of the command line share."""

import sys

import pytest

from textsignal import cli


@pytest.fixture(scope="session")
def call():
    """Run a command in this process; its exit code."""

    def run(*arguments):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "argv", ["textsignal", *map(str, arguments)])
            with pytest.raises(SystemExit) as left:
                cli.main()
        return left.value.code or 0

    return run
