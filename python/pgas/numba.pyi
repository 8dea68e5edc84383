"""The declarations of pgas.numba for type checkers. The operations are generated from the table in
_numba_operations.py, and values in kernels have no types."""

from typing import Any

SET: int
ADD: int
EQ: int
NE: int
GT: int
LE: int
LT: int
GE: int

def context(of: Any) -> Any: ...

def jit(*arguments: Any, **options: Any) -> Any:
    """numba.cuda.jit with link-time optimization."""

def peer(ctx: Any, array: Any, pe: Any) -> Any: ...

def __getattr__(name: str) -> Any:
    """An operation."""
