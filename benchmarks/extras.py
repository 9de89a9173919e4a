"""Other packages that benchmarks compare with; they come with the extra `bench`."""

import sys
from importlib.util import find_spec

PEERS = ("tomotopy", "topica")


def require(*packages: str) -> None:
    """End with what to install where one of the packages is absent."""
    absent = [package for package in packages if find_spec(package) is None]
    if absent:
        sys.exit(f"{' and '.join(absent)} not installed; the extra bench has it: pip install -e '.[bench]'")
