"""Detects whether torch.compile traces the caller. Each operation checks this at each call. In a trace, the operation
calls an operator of _torch_operators.py, which becomes a node of the graph."""

from __future__ import annotations

import itertools
import weakref
from typing import Any, Callable, TypeVar

from ._stream import CURRENT

groups: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()
"""The worlds and teams, by the number that a node of a graph has for them."""
_numbers = itertools.count()


def _never() -> bool:
    return False


traced = _never
"""Replaced when the first tensor of torch is seen."""
operators: Any = None
"""The module _torch_operators, from then on."""


Function = TypeVar("Function", bound=Callable[..., Any])
functions: set[Any] = set()
"""Those that torch.compile may look into."""


def traceable(function: Function) -> Function:
    """Marks a function that calls an operator in a trace."""
    functions.add(function)
    return function


def number_of(group: Any) -> int:
    """Gives a world or a team a new number, by which nodes name it."""
    number = next(_numbers)
    groups[number] = group
    return number


def fits(stream: Any) -> bool:
    """Whether a node can represent this stream. If not, the graph breaks, and the call is an ordinary call."""
    return stream is CURRENT or stream is None


traceable(fits)
