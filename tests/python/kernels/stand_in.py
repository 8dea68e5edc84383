"""A world of forked processes whose heap is a file mapping. It implements the part of the library that interpreted
kernels use.

Tests of kernels on the host need it if the extension is not built. The bytes of contexts and control blocks are those
that the library writes (pgas/_struct_offsets.py, which a test compares with the C++ structs).
"""

import ctypes
import mmap
import os
import struct
import traceback

from pgas import _struct_offsets as at

LOG2_STRIDE = 20
STRIDE = 1 << LOG2_STRIDE
STATE_OFFSET = 128
FIRST_ARRAY = 1 << 16


class World:
    """The world as one PE sees it."""

    def __init__(self, heap: mmap.mmap, my_pe: int, n_pes: int, wait_timeout_ns: int):
        self.my_pe, self.n_pes, self.device = my_pe, n_pes, None
        self._heap = heap
        self._base = ctypes.addressof(ctypes.c_char.from_buffer(heap))
        self._next = FIRST_ARRAY
        self._control = ctypes.create_string_buffer(256 + 128)
        self.control = (ctypes.addressof(self._control) + 127) // 128 * 128
        ctypes.c_uint64.from_address(self.control + at.CONTROL_WAIT_TIMEOUT_NS).value = wait_timeout_ns
        self._rounds = 0

    @property
    def my_slot(self) -> int:
        return self._base + self.my_pe * STRIDE

    def context_bytes(self, flags: int = 0, routes: int = 0, members: int = 0) -> bytes:
        raw = bytearray(at.CONTEXT_BYTES)
        for field, value in ((at.CONTEXT_ABI, at.ABI), (at.CONTEXT_WORLD_PE, self.my_pe), (at.CONTEXT_N_WORLD, self.n_pes),
                             (at.CONTEXT_BIAS, -self.my_pe), (at.CONTEXT_LOG2_STRIDE, LOG2_STRIDE), (at.CONTEXT_FLAGS, flags),
                             (at.TEAM_START, 0), (at.TEAM_STRIDE, 1), (at.TEAM_N_PES, self.n_pes), (at.TEAM_MY_PE, self.my_pe),
                             (at.TEAM_N_CHANNELS, 4)):
            struct.pack_into("<i", raw, field, value)
        for field, value in ((at.CONTEXT_MY_SLOT, self.my_slot), (at.CONTEXT_CONTROL, self.control), (at.CONTEXT_ROUTES, routes),
                             (at.TEAM_STATE_OFFSET, STATE_OFFSET), (at.TEAM_MEMBERS, members)):
            struct.pack_into("<Q", raw, field, value)
        return bytes(raw)

    def zeros(self, count: int, dtype: str, like: str = "torch"):
        import torch

        element = getattr(torch, dtype)
        begin = self.my_pe * STRIDE + self._next
        self._next += (count * element.itemsize + 511) // 512 * 512
        made = torch.frombuffer(self._heap, dtype=element, count=count, offset=begin)
        self.barrier()
        return made

    def barrier(self, stream=None) -> None:
        """A barrier with one word for each PE at the end of the heap. Only the time limit of the tests bounds the
        wait."""
        self._rounds += 1
        words = self._base + self.n_pes * STRIDE
        ctypes.c_uint64.from_address(words + 8 * self.my_pe).value = self._rounds
        while any(ctypes.c_uint64.from_address(words + 8 * pe).value < self._rounds for pe in range(self.n_pes)):
            os.sched_yield()

    def check(self) -> None:
        assert self.record()["complete"] == 0, self.record()

    def record(self) -> dict[str, int]:
        """Returns the failure record."""
        record = self.control + at.CONTROL_RECORD
        fields = {"complete": at.RECORD_COMPLETE, "why": at.RECORD_WHY, "what": at.RECORD_WHAT, "pe": at.RECORD_PE}
        found = {name: ctypes.c_int32.from_address(record + field).value for name, field in fields.items()}
        words = {"heap_offset": at.RECORD_HEAP_OFFSET, "expected": at.RECORD_EXPECTED, "seen": at.RECORD_SEEN}
        return found | {name: ctypes.c_uint64.from_address(record + field).value for name, field in words.items()}


def run(n_pes: int, body, wait_timeout_ns: int = 20_000_000_000) -> None:
    """Calls body(world) in `n_pes` processes. Raises an error if a process has failed."""
    heap = mmap.mmap(-1, n_pes * STRIDE + 4096)
    children = []
    for pe in range(n_pes):
        child = os.fork()
        if child == 0:
            status = 1
            try:
                body(World(heap, pe, n_pes, wait_timeout_ns))
                status = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(status)
        children.append(child)
    lost = [pe for pe, child in enumerate(children) if os.waitpid(child, 0)[1] != 0]
    if lost:
        raise AssertionError(f"failed on PEs {lost}")
