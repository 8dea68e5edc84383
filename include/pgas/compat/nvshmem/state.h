/// @file
/// What kernels of an NVSHMEM program know of their world. No argument carries it, so each piece of device code that is
/// loaded by itself has a copy in constant memory, all under one name: one for each translation unit, or, with
/// -rdc=true, one for all that are linked together.
///
/// Each translation unit tells the library how to write its copy: by its own CUDA runtime, as several may live in one
/// process. In modules that a program loads by hand the library looks for the name (nvshmemx_cumodule_init).
///
/// For nvcc units, and for the library's own.
#pragma once

#include <cstdint>

#include "pgas/device/context.hpp"

/// Numbers that teams can have; also a bound of what a copy costs.
inline constexpr std::int32_t pgas_nvshmem_max_teams = 128;

/// The state. Teams are found by their number; a number without a team has no members.
struct pgas_nvshmem_state {
  pgas::context context;
  pgas::team_view teams[pgas_nvshmem_max_teams];
};

#if !defined(__CUDACC_RTC__)
extern "C" {
/// Writes one copy, on the device that is current. Returns the CUDA runtime's status.
typedef int (*pgas_nvshmem_state_setter)(const pgas_nvshmem_state* state);

/// Announces a copy: `set` is called with every new state from now on, and at once if there is one.
PGAS_API void pgas_nvshmem_register_state(pgas_nvshmem_state_setter set) noexcept;
/// Takes back one announcement of `set`: its code is about to be unloaded.
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

/// Announces this translation unit's copy as long as it is loaded.
class pgas_nvshmem_registration {
 public:
  pgas_nvshmem_registration() { pgas_nvshmem_register_state(&set); }
  ~pgas_nvshmem_registration() { pgas_nvshmem_unregister_state(&set); }
  pgas_nvshmem_registration(const pgas_nvshmem_registration&) = delete;
  pgas_nvshmem_registration& operator=(const pgas_nvshmem_registration&) = delete;

 private:
  /// On a stream of its own: a copy on the default stream would wait for running kernels, which may wait for this PE.
  static int set(const pgas_nvshmem_state* state) {
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
