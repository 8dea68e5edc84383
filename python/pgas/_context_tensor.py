"""The context of a world or a team: its bytes, and a tensor of these bytes for Triton kernels."""

from __future__ import annotations

from typing import Any

from pgas import _struct_offsets


def _field(raw: bytes, at: int) -> int:
    return int.from_bytes(raw[at:at + 4], "little", signed=True)


def context_bytes(of: Any) -> bytes:
    """The bytes of the C++ struct pgas::context for `of`, which is a world, a team, a context, or such bytes."""
    if not isinstance(of, (bytes, bytearray, memoryview)):
        inner = getattr(of, "context", of)
        inner = inner() if callable(inner) else inner
        of = inner.bytes() if callable(inner.bytes) else inner.bytes
    raw = bytes(of)
    if len(raw) != _struct_offsets.CONTEXT_BYTES or _field(raw, _struct_offsets.CONTEXT_ABI) != _struct_offsets.ABI:
        found = f"{_field(raw, _struct_offsets.CONTEXT_ABI):#x}" if len(raw) >= 4 else "none"
        raise RuntimeError(f"the context has {len(raw)} bytes of layout {found}, this package supports "
                           f"{_struct_offsets.CONTEXT_BYTES} bytes of layout {_struct_offsets.ABI:#x}: the library and the "
                           "Python package have different versions: reinstall both")
    return raw


def check_direct(raw: bytes) -> None:
    """Raises if kernels that have only loads and stores would not reach all PEs."""
    if _field(raw, _struct_offsets.CONTEXT_FLAGS) & _struct_offsets.FLAG_PROXY:
        raise ValueError("some PEs of this world are proxied: they are on another host, or on a GPU that is not load/store "
                         "accessible, and Triton kernels have only loads and stores. Pass direct_only=True for kernels that "
                         "address direct PEs only (pgas-info lists them), or use operations of the host or of pgas/device.hpp "
                         "(pgas.nvrtc, pgas.numba), which support proxied PEs")


def direct_context_bytes(of: Any) -> bytes:
    """Like context_bytes(), for kernels that are compiled for direct PEs at evenly spaced addresses only. Raises if
    `of` has other PEs."""
    raw = context_bytes(of)
    flags = _field(raw, _struct_offsets.CONTEXT_FLAGS)
    if flags & _struct_offsets.FLAG_PROXY:
        raise ValueError("direct_context: some PEs of this world are not load/store accessible at evenly spaced addresses: they "
                         "are on another host or on a GPU without peer access, or share memory by cuda_ipc. Use context()")
    if flags & _struct_offsets.FLAG_LIST:
        raise ValueError("direct_context: the members of this team are not evenly spaced in the world: use context(), which looks up each member")
    return raw


def context(of: Any, device: Any = None, direct_only: bool = False) -> Any:
    """The context tensor that the functions of pgas.triton take: int64, on the GPU of the world.

    A program can create the tensor once, and pass it to any number of kernels until the PE leaves the world.

    of: the world, a team, or the bytes of a pgas::context.
    device: the device of the tensor, as torch names devices. None: the world's GPU, or torch's current device.
    direct_only: the kernels address direct PEs only. An operation on a proxied PE then ends the kernel, and the host
    raises.
    """
    import torch

    raw = context_bytes(of)
    if not direct_only:
        check_direct(raw)
    return _tensor(raw, of, device, torch.int64)


def direct_context(of: Any, device: Any = None) -> Any:
    """The context tensor for kernels that compute the addresses of all PEs by arithmetic. The type of the tensor,
    uint64, selects code without the test and the table lookup of operations with a context(). Raises ValueError if some
    PEs are proxied or their addresses are not evenly spaced.
    """
    import torch

    return _tensor(direct_context_bytes(of), of, device, torch.uint64)


def _tensor(raw: bytes, of: Any, device: Any, dtype: Any) -> Any:
    import torch

    if device is None:
        world = getattr(of, "world", of)  # a team refers to its world, a world does not
        if hasattr(world, "device"):
            device = "cpu" if world.device is None else world.device
        else:
            device = torch.cuda.current_device() if torch.cuda.is_available() else "cpu"
    if isinstance(device, int):
        device = f"cuda:{device}"
    return torch.frombuffer(bytearray(raw), dtype=torch.int64).to(device).view(dtype)
