/// @file
/// Macros that define the functions of shmem.h. Each function is defined once, under its profiling name. The usual name
/// is a weak alias, which a program or a profiler may replace.
#pragma once

#include <array>
#include <cstddef>
#include <type_traits>

#include "host/compat/common/global_exit.hpp"
#include "host/compat/common/runtime.hpp"
#include "host/compat/shmem/shmem_library.hpp"
#include "pgas/compat/shmem.h"

/// The types that only OpenSHMEM has, in types.inc.
#define PGAS_OPENSHMEM_TYPES

namespace pgas::compat {

/// to_status() for functions that return zero on success.
template <class Body>
int to_shmem_status(const char* function, Body&& body) noexcept {
  return to_status(function, -1, [&] {
    body();
    return 0;
  });
}

/// Converts untyped memory to elements of the given size.
template <std::size_t Bytes>
using element = std::array<std::byte, Bytes>;

template <std::size_t Bytes>
[[nodiscard]] element<Bytes>* to(void* pointer) {
  return static_cast<element<Bytes>*>(pointer);
}
template <std::size_t Bytes>
[[nodiscard]] const element<Bytes>* from(const void* pointer) {
  return static_cast<const element<Bytes>*>(pointer);
}

}  // namespace pgas::compat

#define PGAS_SHMEM_UNPACK(...) __VA_ARGS__
#define PGAS_SHMEM_ALIAS(RESULT, NAME, PARAMETERS) \
  __attribute__((weak, alias("pshmem_" #NAME), visibility("default"))) RESULT shmem_##NAME PARAMETERS;

/// A function that ends all processes if its body, the last argument, throws.
#define PGAS_SHMEM_DEFINE(RESULT, NAME, PARAMETERS, ...)                                    \
  RESULT pshmem_##NAME PARAMETERS {                                                         \
    return ::pgas::compat::or_global_exit("shmem_" #NAME, [&]() -> RESULT { __VA_ARGS__ }); \
  }                                                                                         \
  PGAS_SHMEM_ALIAS(RESULT, NAME, PARAMETERS)

/// Two functions that end all processes if the body throws: one without a context, and one with the context `ctx`. In
/// the body, `ctx` is the context in both functions.
#define PGAS_SHMEM_DEFINE_CTX(RESULT, NAME, PARAMETERS, ...)                                \
  RESULT pshmem_##NAME PARAMETERS {                                                         \
    const shmem_ctx_t ctx = SHMEM_CTX_DEFAULT;                                              \
    return ::pgas::compat::or_global_exit("shmem_" #NAME, [&]() -> RESULT { __VA_ARGS__ }); \
  }                                                                                         \
  PGAS_SHMEM_ALIAS(RESULT, NAME, PARAMETERS)                                                \
  PGAS_SHMEM_DEFINE(RESULT, ctx_##NAME, (shmem_ctx_t ctx, PGAS_SHMEM_UNPACK PARAMETERS), __VA_ARGS__)

/// As PGAS_SHMEM_DEFINE_CTX, for a function that calls an operation of pgas on PE `pe`. The last arguments of the macro
/// are passed to the operation between its arguments for the world and the PE.
#define PGAS_SHMEM_DEFINE_ON_PE(RESULT, NAME, PARAMETERS, OPERATION, ...)   \
  PGAS_SHMEM_DEFINE_CTX(RESULT, NAME, PARAMETERS, {                         \
    const ::pgas::compat::target peer = ::pgas::compat::target_of(ctx, pe); \
    return ::pgas::OPERATION(peer.world, __VA_ARGS__, peer.pe);             \
  })

/// A function that returns zero on success, and a nonzero value if its body throws.
#define PGAS_SHMEM_DEFINE_STATUS(NAME, PARAMETERS, ...)                          \
  int pshmem_##NAME PARAMETERS {                                                 \
    return ::pgas::compat::to_shmem_status("shmem_" #NAME, [&] { __VA_ARGS__ }); \
  }                                                                              \
  PGAS_SHMEM_ALIAS(int, NAME, PARAMETERS)

/// A function that returns FAILED if its body throws.
#define PGAS_SHMEM_DEFINE_OR(RESULT, FAILED, NAME, PARAMETERS, ...)                                                 \
  RESULT pshmem_##NAME PARAMETERS {                                                                                 \
    return ::pgas::compat::to_status("shmem_" #NAME, static_cast<RESULT>(FAILED), [&]() -> RESULT { __VA_ARGS__ }); \
  }                                                                                                                 \
  PGAS_SHMEM_ALIAS(RESULT, NAME, PARAMETERS)
