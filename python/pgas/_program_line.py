"""Finds the line of the program, outside this package, that makes a call or raises an exception. Error messages name
this line."""

from __future__ import annotations

import os
import sys
from types import FrameType, TracebackType

_package = os.path.dirname(os.path.abspath(__file__)) + os.sep


def _of_program(frame: FrameType) -> bool:
    return not frame.f_code.co_filename.startswith(_package)


def calling_line() -> str:
    """The line that makes the current call of this package, as "file:line"."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and not _of_program(frame):
        frame = frame.f_back
    return "?" if frame is None else f"{frame.f_code.co_filename[-300:]}:{frame.f_lineno}"


def raising_line(trace: TracebackType | None) -> str:
    """The last line of a traceback that is in the program, as " at file:line". Empty without a traceback."""
    line = ""
    while trace is not None:
        if not line or _of_program(trace.tb_frame):
            line = f" at {trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
        trace = trace.tb_next
    return line
