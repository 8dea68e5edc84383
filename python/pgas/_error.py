"""The exception pgas.Error, which reports all failures."""

from __future__ import annotations

import enum
from typing import Any

from . import _core

# The extension's classes and threads belong to one interpreter.
if not _core.in_main_interpreter():
    raise ImportError("pgas is for the main interpreter: sub-interpreters can't import it; use processes")


class Code(enum.IntEnum):
    """The stable numbers of failures. docs/errors.md has the cause and the fix of each failure."""

    bootstrap_unavailable = 101
    bootstrap_timeout = 102
    bootstrap_protocol = 103
    authentication = 104
    peer_unreachable = 105
    version_mismatch = 106
    mixed_heaps = 107
    out_of_memory = 201
    address_space = 202
    handle_exchange = 203
    handle_invalid = 204
    asymmetric_call = 205
    invalid_free = 206
    pe_out_of_range = 301
    outside_heap = 302
    misaligned = 303
    invalid_argument = 304
    not_joined = 305
    forked_process = 306
    peer_lost = 401
    aborted = 402
    wait_timeout = 403
    transport_failed = 404
    device_unavailable = 501
    device_failed = 502
    launch_failed = 503
    capturing = 504
    config_value = 601
    system = 701

    @property
    def cause(self) -> str:
        """The usual cause."""
        return _rows[self.value][2]

    @property
    def fix(self) -> str:
        """The fix for the usual cause."""
        return _rows[self.value][3]

    def __str__(self) -> str:
        return f"PGAS-E{self.value:04d}"


_rows = {row[0]: row for row in _core.error_table()}


class Error(RuntimeError):
    """A failure of pgas. The text contains the code, and says what failed, where it failed, and how to fix it."""

    code: Code
    pe: int | None
    """The PE that the error concerns, such as the PE that died or the PE with other arguments."""

    def __init__(self, message: str, code: int = 304, pe: int = -1) -> None:
        super().__init__(message)
        self.code = Code(code)
        self.pe = pe if pe >= 0 else None

    def __reduce__(self) -> tuple[Any, ...]:
        return (Error, (str(self), int(self.code), -1 if self.pe is None else self.pe))

    @property
    def cause(self) -> str:
        """The usual cause of the code."""
        return self.code.cause

    @property
    def fix(self) -> str:
        """The fix for the usual cause."""
        return self.code.fix
