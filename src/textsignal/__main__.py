"""`python -m textsignal` is the command line."""

from textsignal.cli import main

main()
