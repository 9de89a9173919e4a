"""The command line: every command is one public call, its options are that call's arguments."""

from textsignal.cli.commands import app, main

__all__ = ["app", "main"]
