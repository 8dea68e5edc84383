/// @file
/// What the families are written with: one text for the host and the device, by expansion from types.inc. The macros
/// are gone at the end of nvshmem.h (families.h).
///
/// A function for both sides has two expressions: device code goes to the inline operations of pgas, host code to the
/// untyped functions of libnvshmem_host. Functions called by a warp or a block have the first only.
///
/// Reads as C++17; without nvcc, or with NVSHMEM_HOSTLIB_ONLY, there is only the host's side.
#pragma once

#include <stddef.h>
#include <stdint.h>

#if defined(__CUDACC__) && !defined(NVSHMEM_HOSTLIB_ONLY)
#define PGAS_NVSHMEM_ON_DEVICE 1
#include "pgas/compat/nvshmem/state.h"
#include "pgas/device.hpp"
#endif

#include "pgas/compat/nvshmem/types.h"
#if !defined(__CUDACC_RTC__)
#include "pgas/compat/nvshmem/host_values.h"
#endif

#if defined(PGAS_NVSHMEM_ON_DEVICE)

#if defined(__CUDACC_RTC__)
#define PGAS_NVSHMEM_FN __device__ __forceinline__
#else
#define PGAS_NVSHMEM_FN __host__ __device__ __forceinline__
#endif
#define PGAS_NVSHMEM_DEVICE_FN __device__ __forceinline__
#define PGAS_NVSHMEM_DEVICE_ONLY(...) __VA_ARGS__
/// The context that all operations work with.
#define PGAS_NVSHMEM_CONTEXT pgas_nvshmem_device_state.context
/// The calling threads, by the name of their scope.
#define PGAS_NVSHMEM_GROUP_warp pgas::this_warp(pgas::this_block())
#define PGAS_NVSHMEM_GROUP_block pgas::this_block()

#else
#define PGAS_NVSHMEM_FN inline
#define PGAS_NVSHMEM_DEVICE_ONLY(...)
#endif

/// The body of a function for both sides: the expression that belongs here.
#if defined(PGAS_NVSHMEM_ON_DEVICE) && defined(__CUDA_ARCH__)
#define PGAS_NVSHMEM_SIDES(DEVICE, HOST) return DEVICE
#else
#define PGAS_NVSHMEM_SIDES(DEVICE, HOST) return HOST
#endif

/// Elements of Bytes bytes as numbers that are aligned as the program may have aligned them: the largest are two of 8
/// bytes, as complex numbers are.
template <class Unit, int Units>
struct pgas_nvshmem_units {
  static constexpr int count = Units;
  static PGAS_NVSHMEM_FN Unit* at(void* p) { return static_cast<Unit*>(p); }
  static PGAS_NVSHMEM_FN const Unit* at(const void* p) { return static_cast<const Unit*>(p); }
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
