/// @file
/// Macros that define functions for host and device, expanded for each type of types.inc. nvshmem.h undefines the
/// macros at its end.
///
/// The body of a function for host and device consists of two expressions. The expression for device code calls the
/// inline operations of pgas. The expression for host code calls the untyped entries of libnvshmem_host (host_abi.h).
/// Functions of a warp or a block have only the expression for device code.
///
/// C++17. Without nvcc, or with NVSHMEM_HOSTLIB_ONLY, only functions for the host are declared.
#pragma once

#include <stddef.h>
#include <stdint.h>

#if defined(__CUDACC__) && !defined(NVSHMEM_HOSTLIB_ONLY)
#define PGAS_NVSHMEM_ON_DEVICE 1
#include "pgas/compat/nvshmem/device_state.h"
#include "pgas/device.hpp"
#endif

#include "pgas/compat/nvshmem/types.h"
#if !defined(__CUDACC_RTC__)
#include "pgas/compat/nvshmem/host_abi.h"
#endif

#if defined(PGAS_NVSHMEM_ON_DEVICE)

#if defined(__CUDACC_RTC__)
#define PGAS_NVSHMEM_INLINE __device__ PGAS_INLINED
#else
#define PGAS_NVSHMEM_INLINE __host__ __device__ PGAS_INLINED
#endif
// The interface has thousands of functions. The functions are templates with a default argument, so the compiler
// compiles only the functions that a program calls.
#define PGAS_NVSHMEM_FN             \
  template <int pgas_if_called = 0> \
  PGAS_NVSHMEM_INLINE
#define PGAS_NVSHMEM_DEVICE_FN      \
  template <int pgas_if_called = 0> \
  __device__ PGAS_INLINED
#define PGAS_NVSHMEM_DEVICE_ONLY(...) __VA_ARGS__
/// The context of all operations. With PGAS_NVSHMEM_DIRECT the program states that all PEs are load/store accessible.
#if defined(PGAS_NVSHMEM_DIRECT)
template <int>
__device__ PGAS_INLINED pgas::direct_context pgas_nvshmem_context() {
  return pgas::direct_context(pgas_nvshmem_device_state.context);
}
#else
template <int>
__device__ PGAS_INLINED const pgas::context& pgas_nvshmem_context() {
  return pgas_nvshmem_device_state.context;
}
#endif
#define PGAS_NVSHMEM_CONTEXT pgas_nvshmem_context<pgas_if_called>()
/// The group of the calling threads, by the name of its scope.
#define PGAS_NVSHMEM_GROUP_warp pgas::this_warp(pgas::this_block())
#define PGAS_NVSHMEM_GROUP_block pgas::this_block()

#else
#define PGAS_NVSHMEM_INLINE inline
#define PGAS_NVSHMEM_FN inline
#define PGAS_NVSHMEM_DEVICE_ONLY(...)
#endif

/// The body of a function for host and device: the expression for host code or for device code, depending on what is
/// compiled.
#if defined(PGAS_NVSHMEM_ON_DEVICE) && defined(__CUDA_ARCH__)
#define PGAS_NVSHMEM_BODY(DEVICE, HOST) return DEVICE
#else
#define PGAS_NVSHMEM_BODY(DEVICE, HOST) return HOST
#endif

/// The type for elements of `Bytes` bytes: integers with the alignment that programs use. An element of 16 bytes is two
/// integers of 8 bytes, like a complex number.
template <class Unit, int Units>
struct pgas_nvshmem_units {
  static constexpr int count = Units;
  static PGAS_NVSHMEM_INLINE Unit* at(void* p) { return static_cast<Unit*>(p); }
  static PGAS_NVSHMEM_INLINE const Unit* at(const void* p) { return static_cast<const Unit*>(p); }
};
template <int Bytes>
struct pgas_nvshmem_element;
template <>
struct pgas_nvshmem_element<1> : pgas_nvshmem_units<uint8_t, 1> {};
template <>
struct pgas_nvshmem_element<2> : pgas_nvshmem_units<uint16_t, 1> {};
template <>
struct pgas_nvshmem_element<4> : pgas_nvshmem_units<uint32_t, 1> {};
template <>
struct pgas_nvshmem_element<8> : pgas_nvshmem_units<uint64_t, 1> {};
template <>
struct pgas_nvshmem_element<16> : pgas_nvshmem_units<uint64_t, 2> {};

#if defined(PGAS_NVSHMEM_ON_DEVICE)

/// Whether a team with this number exists.
__device__ PGAS_INLINED bool pgas_nvshmem_has_team(nvshmem_team_t team) {
  return team >= 0 && team < pgas_nvshmem_max_teams && pgas_nvshmem_device_state.teams[team].n_pes() != 0;
}

/// The team with this number. The team must exist.
#define PGAS_NVSHMEM_TEAM(TEAM) pgas_nvshmem_device_state.teams[TEAM]

/// Calls a collective of a team and returns its status.
#define PGAS_NVSHMEM_WITH_TEAM(TEAM, ...) \
  (pgas_nvshmem_has_team(TEAM) ? ((__VA_ARGS__), int{NVSHMEMX_SUCCESS}) : int{NVSHMEMX_ERROR_INVALID_VALUE})

#define PGAS_NVSHMEM_GROUP_warpgroup pgas::this_warpgroup(pgas::this_block())

#endif
