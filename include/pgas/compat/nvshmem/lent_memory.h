/// @file
/// Shared memory that a block lends for its copies:
///
///     extern __shared__ char room[];                            // nvshmemx_ask_smem() bytes, queried by the host
///     nvshmemx_give_smem(room, bytes);                          // all threads
///     nvshmemx_putmem_block(dst, src, n, pe);
///     nvshmemx_release_smem();                                  // all threads, before the kernel ends
///
/// With NVSHMEM_TMA_POLICY=ENABLE (PGAS_LENT_MEMORY=1) on a GPU from sm_90 on, put and get, including the nonblocking
/// forms, use the GPU's copy unit between these calls. The copy unit is used for copies of 512 bytes and more, with
/// addresses and size at multiples of 16 bytes, to and from load/store accessible PEs, by a thread, a warp or a block.
/// At any time, at most one copy of the block uses the memory. All other copies use loads and stores. Without that
/// setting (the default, as in NVSHMEM), and in units compiled with PGAS_NVSHMEM_DIRECT, all copies use loads and
/// stores. The semantics of all copies are the same, and no copy completes later because of lent memory.
///
/// The library owns the memory from nvshmemx_give_smem() to nvshmemx_release_smem(). Memory that is not shared memory,
/// or is smaller than NVSHMEMX_SMEM_BARRIERS_ONLY requires, is ignored. With only the minimum size, only copies from
/// and to shared memory use the lent memory.
#pragma once

#include "pgas/compat/nvshmem/host_device.h"

#if defined(PGAS_NVSHMEM_ON_DEVICE)
#include "pgas/device/impl/copy/lent_memory.hpp"
#endif

/// The number of bytes to lend. *Callers* host and kernels. *Memory* the lent memory must be aligned to 16 bytes.
PGAS_NVSHMEM_FN int nvshmemx_ask_smem(nvshmemx_smem_amount_t flag) {
  return flag == NVSHMEMX_SMEM_BARRIERS_ONLY ? 1136 : flag == NVSHMEMX_SMEM_MINIMUM ? 32768 : 65536;
}

#if defined(PGAS_NVSHMEM_ON_DEVICE)
static_assert(pgas::detail::lent_memory::least_bytes == 1136, "what NVSHMEMX_SMEM_BARRIERS_ONLY asks for");

/// Lends [smem, smem + size), in place of all memory that the block lent earlier. *Callers* all threads of the block.
PGAS_NVSHMEM_DEVICE_FN void nvshmemx_give_smem(void* smem, size_t size) {
  const bool used = (pgas_nvshmem_device_state.context.flags_ & pgas::detail::slow_path::lent) != 0;
  pgas::detail::lend(used ? pgas_nvshmem_device_state.blocks : nullptr, PGAS_NVSHMEM_GROUP_block, smem, size);
}
/// Ends the lending. *Callers* all threads of the block.
PGAS_NVSHMEM_DEVICE_FN void nvshmemx_release_smem(void) {
  pgas::detail::take_back(pgas_nvshmem_device_state.blocks, PGAS_NVSHMEM_GROUP_block);
}
#endif
