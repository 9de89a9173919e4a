"""The command line: every command is one public call, its options are that call's arguments. One module per command."""

from textsignal.cli.app import app, main

__all__ = ["app", "main"]
