"""Record the audit events of Python that would mean that data ran code: imports, files, code objects, processes."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

#: Events by which the interpreter loads code, opens files or starts processes.
WATCHED = (
    *("import", "open", "exec", "compile", "marshal.loads", "pickle.find_class", "code.__new__"),
    *("os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.forkpty", "subprocess.Popen", "pty.spawn"),
    *("socket.connect", "socket.bind", "socket.getaddrinfo", "ctypes.dlopen", "urllib.Request", "shutil.rmtree"),
)

_recording: list[tuple[str, str]] | None = None


def _record(event: str, arguments: tuple[object, ...]) -> None:
    if _recording is not None and event in WATCHED:
        _recording.append((event, repr(arguments)[:200]))


@contextmanager
def audited() -> Iterator[list[tuple[str, str]]]:
    """Give a list that fills with (event, arguments) of watched audit events until the block ends.

    An audit hook cannot be removed, so there is one for the whole process, which records only inside such a block. What
    the code imports or compiles on first use must have been used before.
    """
    global _recording
    if not _hooked:
        sys.addaudithook(_record)
        _hooked.append(True)
    events: list[tuple[str, str]] = []
    _recording = events
    try:
        yield events
    finally:
        _recording = None


_hooked: list[bool] = []
