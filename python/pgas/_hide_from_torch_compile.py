"""Prevents torch.compile from tracing the package, except for functions that become operators (_tracing.py). All other
functions break the graph, and torch calls them between graphs. If torch.compile traced these functions, it could treat
values such as the current stream as constants."""

from __future__ import annotations

import inspect
import sys
from typing import Any, Callable, Iterator

from . import _tracing

_done = False


def _functions() -> Iterator[Any]:
    for name, module in list(sys.modules.items()):
        if not name.startswith("pgas._") or module is None or name == "pgas._torch_operators":
            continue
        for value in list(vars(module).values()):
            if getattr(value, "__module__", None) != name:
                continue
            if inspect.isfunction(value):
                yield value
            elif inspect.isclass(value):
                for member in vars(value).values():
                    found = inspect.unwrap(getattr(member, "fget", None) or getattr(member, "__func__", member) or member)
                    if inspect.isfunction(found):
                        yield found


def _skipper() -> Callable[[Any], None] | None:
    """The function that implements torch._dynamo.skip for code objects. It is imported from the implementing module,
    because an import of torch._dynamo takes seconds."""
    try:
        from torch._C._dynamo import eval_frame

        if hasattr(eval_frame, "skip_code"):
            return eval_frame.skip_code  # type: ignore[no-any-return]
        strategy = eval_frame._FrameExecStrategy(eval_frame._FrameAction.SKIP, eval_frame._FrameAction.DEFAULT)
        return lambda code: eval_frame.set_code_exec_strategy(code, strategy)
    except (ImportError, AttributeError):  # a version of torch with the function in another module: calls still break the graph
        return None


def hide_from_torch() -> None:
    """Hides the functions of the package from torch.compile. Called at the first tensor, so that the package need not
    import torch."""
    global _done
    if _done:
        return
    _done = True
    import torch

    if hasattr(torch.library, "custom_op") and hasattr(torch.compiler, "is_dynamo_compiling"):  # from torch 2.4 on
        from . import _torch_operators

        _tracing.operators = _torch_operators
        _tracing.traced = torch.compiler.is_dynamo_compiling
    else:
        _tracing.functions.clear()
    skip = _skipper()
    for function in _functions():
        if function not in _tracing.functions:
            function._torchdynamo_disable = True  # while a caller is traced
        if skip is not None:
            skip(function.__code__)  # when the function is called
