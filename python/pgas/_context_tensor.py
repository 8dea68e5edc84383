"""The context of a world or a team: its bytes, and a tensor of them for Triton kernels."""

from __future__ import annotations

from typing import Any

from pgas import _struct_offsets


def _field(raw: bytes, at: int) -> int:
    return int.from_bytes(raw[at:at + 4], "little", signed=True)


def context_bytes(of: Any) -> bytes:
    """The bytes of the C++ struct pgas::context: `of` is a world, a team, a context, or these bytes."""
    if not isinstance(of, (bytes, bytearray, memoryview)):
        inner = getattr(of, "context", of)
        inner = inner() if callable(inner) else inner
        of = inner.bytes() if callable(inner.bytes) else inner.bytes
    raw = bytes(of)
    if len(raw) != _struct_offsets.CONTEXT_BYTES or _field(raw, _struct_offsets.CONTEXT_ABI) != _struct_offsets.ABI:
        found = f"{_field(raw, _struct_offsets.CONTEXT_ABI):#x}" if len(raw) >= 4 else "none"
        raise RuntimeError(f"the context has {len(raw)} bytes of layout {found}, this package knows {_struct_offsets.CONTEXT_BYTES} bytes of "
                           f"layout {_struct_offsets.ABI:#x}: the library and the Python package are of different versions, install both anew")
    return raw


def check_direct(raw: bytes) -> None:
    """Raises where kernels that have only loads and stores would not reach all PEs."""
    if _field(raw, _struct_offsets.CONTEXT_FLAGS) & _struct_offsets.FLAG_PROXY:
        raise ValueError("some PEs of this world are proxied: on another host, or on a GPU that load and store do not reach, and Triton "
                         "kernels have nothing but loads and stores. Pass direct_only=True for kernels that address direct PEs only "
                         "(pgas-info tells which they are), or use operations of the host or of pgas/device.hpp (pgas.nvrtc, "
                         "pgas.numba), which serve proxied PEs too")


def context(of: Any, device: Any = None, direct_only: bool = False) -> Any:
    """The context tensor that the functions of pgas.triton take: int64, on the GPU of the world.

    It may be made once, and passed to any number of kernels until the world is left.

    of: the world, a team, or the bytes of a pgas::context.
    device: where the tensor is made, as torch names devices; None: the world's GPU, or torch's current one.
    direct_only: the kernels address direct PEs only. A proxied one then ends the kernel, and the host raises.
    """
    import torch

    raw = context_bytes(of)
    if not direct_only:
        check_direct(raw)
    if device is None:
        world = getattr(of, "world", of)  # a team knows its world
        if hasattr(world, "device"):
            device = "cpu" if world.device is None else world.device
        else:
            device = torch.cuda.current_device() if torch.cuda.is_available() else "cpu"
    if isinstance(device, int):
        device = f"cuda:{device}"
    return torch.frombuffer(bytearray(raw), dtype=torch.int64).to(device)
