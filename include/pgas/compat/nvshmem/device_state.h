/// @file
/// The state of the world that kernels of an NVSHMEM program read. Kernels receive no argument with the state. Each
/// separately loaded piece of device code therefore has a copy of the state in constant memory, under the same name:
/// one copy for each translation unit or, with -rdc=true, one copy for all units that are linked together.
///
/// Each translation unit registers a function that uses the unit's CUDA runtime to write the copy, because a process
/// can have several runtimes. In modules that a program loads, the library finds the copy by its name
/// (nvshmemx_cumodule_init).
///
/// Units compiled by nvcc and libnvshmem_host include this header.
#pragma once

#include <cstdint>

#include "pgas/device/direct_context.hpp"
#include "pgas/device/impl/sync/block_table.hpp"

/// The number of teams that kernels can use. The number limits the size of each copy of the state.
inline constexpr std::int32_t pgas_nvshmem_max_teams = 128;

/// The state. Teams are indexed by their number; an unused number has a team without members. `blocks` contains
/// the lent memory of running blocks; null if no lent memory is used.
struct pgas_nvshmem_state {
  pgas::context context;
  pgas::team_view teams[pgas_nvshmem_max_teams];
  pgas::detail::block_table* blocks;
};

/// The status that a setter returns in a unit compiled with PGAS_NVSHMEM_DIRECT, if some PEs are proxied or slots are
/// not evenly spaced.
inline constexpr int pgas_nvshmem_not_direct = -1;

#if !defined(__CUDACC_RTC__)
extern "C" {
/// Writes one copy on the current device. Returns the CUDA runtime's status, or pgas_nvshmem_not_direct.
typedef int (*pgas_nvshmem_state_setter)(const pgas_nvshmem_state* state);

/// Registers a copy: the library calls `set` now if there is a state, and again for each new state.
PGAS_API void pgas_nvshmem_register_state(pgas_nvshmem_state_setter set) noexcept;
/// Removes one registration of `set`. Called before the code of `set` is unloaded.
PGAS_API void pgas_nvshmem_unregister_state(pgas_nvshmem_state_setter set) noexcept;
}
#endif

#if defined(__CUDACC__)

#if defined(__CUDACC_RDC__)
[[gnu::visibility("hidden")]] inline __constant__ pgas_nvshmem_state pgas_nvshmem_device_state{};
#else
static __constant__ pgas_nvshmem_state pgas_nvshmem_device_state{};
#endif

#if !defined(__CUDACC_RTC__)
#include <cuda_runtime_api.h>

namespace {

/// Registers this translation unit's copy while the unit is loaded.
class pgas_nvshmem_registration {
 public:
  pgas_nvshmem_registration() { pgas_nvshmem_register_state(&set); }
  ~pgas_nvshmem_registration() { pgas_nvshmem_unregister_state(&set); }
  pgas_nvshmem_registration(const pgas_nvshmem_registration&) = delete;
  pgas_nvshmem_registration& operator=(const pgas_nvshmem_registration&) = delete;

 private:
  /// Uses a new stream, because a copy on the default stream would wait for running kernels, and running kernels can
  /// wait for this PE.
  static int set(const pgas_nvshmem_state* state) {
#if defined(PGAS_NVSHMEM_DIRECT)
    if (state->context.routes_ != nullptr) return pgas_nvshmem_not_direct;
#endif
    cudaStream_t stream = nullptr;
    cudaError_t status = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    if (status != cudaSuccess) return static_cast<int>(status);
    status =
        cudaMemcpyToSymbolAsync(pgas_nvshmem_device_state, state, sizeof *state, 0, cudaMemcpyHostToDevice, stream);
    const cudaError_t done = cudaStreamSynchronize(stream);
    static_cast<void>(cudaStreamDestroy(stream));
    return static_cast<int>(status != cudaSuccess ? status : done);
  }
};

const pgas_nvshmem_registration pgas_nvshmem_registered;

}  // namespace
#endif

#endif
