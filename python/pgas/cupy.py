"""CuPy kernels that include pgas/device.hpp.

    import cupy, pgas, pgas.cupy

    module = pgas.cupy.raw_module(r'''
      #include <pgas/device.hpp>
      extern "C" __global__ void shift(pgas::context ctx, float* halo, const float* row, int n, pgas::signal_t* arrived) {
        const int right = (ctx.my_pe() + 1) % ctx.n_pes();
        pgas::put_signal(ctx, pgas::block(), halo, row, n, arrived, 1, pgas::signal_op::set, right);
        pgas::wait_until(ctx, pgas::block(), arrived, pgas::cmp::ge, pgas::signal_t{1});
      }''')
    shift = module.get_function("shift")
    shift((1,), (256,), (pgas.cupy.context(world), halo, row, numpy.int32(row.size), arrived))

The kernel is CUDA C++ and may use all operations of pgas/device.hpp, also with proxied PEs. Scalar arguments are NumPy
scalars of the parameter's type. All blocks of a kernel that waits for other PEs must be resident on the GPU at the same
time.
"""

from __future__ import annotations

from typing import Any, Sequence

from pgas._context_tensor import context_bytes, direct_context_bytes
from pgas.nvrtc import STANDARD, compile_options, headers_digest

__all__ = ["context", "direct_context", "raw_module"]


def context(of: Any) -> Any:
    """The context of a world or a team as an argument of kernels, for a parameter `pgas::context`. The context is
    passed by value, so a program may keep it."""
    return _by_value(context_bytes(of))


def direct_context(of: Any) -> Any:
    """Like context(), for a parameter `pgas::direct_context`. Raises ValueError if some PEs are not load/store
    accessible."""
    return _by_value(direct_context_bytes(of))


def _by_value(raw: bytes) -> Any:
    import numpy

    return numpy.frombuffer(raw, dtype=numpy.dtype((numpy.void, len(raw))))[0]


def raw_module(source: str, *, std: str = STANDARD, options: Sequence[str] = (), **others: Any) -> Any:
    """A cupy.RawModule whose source may include pgas/device.hpp. `options` and `others`, such as name_expressions, are
    arguments of cupy.RawModule."""
    import cupy

    # CuPy caches compiled modules on disk by source and options. An option with a hash of the headers makes CuPy
    # compile again when the headers change.
    version = f"-DPGAS_HEADERS={headers_digest()[:16]}"
    return cupy.RawModule(code=source, backend="nvrtc", options=(*compile_options(std=std), version, *options), **others)
