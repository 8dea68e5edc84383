/// @file
/// How the functions of shmem.h are written: each once, under its profiling name, of which the other is a weak alias,
/// so that a program or a profiler may put its own in front.
#pragma once

#include <type_traits>

#include "host/compat/common/global_exit.hpp"
#include "host/compat/common/runtime.hpp"
#include "host/compat/shmem/library.hpp"
#include "pgas/compat/shmem.h"

/// The types that only OpenSHMEM has, in types.inc.
#define PGAS_OPENSHMEM_TYPES

namespace pgas::capi {

/// guarded() for functions that return zero when it went well.
template <class Body>
int shmem_status(const char* function, Body&& body) noexcept {
  return guarded(function, -1, [&] {
    body();
    return 0;
  });
}

}  // namespace pgas::capi

#define PGAS_SHMEM_UNPACK(...) __VA_ARGS__
#define PGAS_SHMEM_ALIAS(RESULT, NAME, PARAMETERS) \
  __attribute__((weak, alias("pshmem_" #NAME), visibility("default"))) RESULT shmem_##NAME PARAMETERS;

/// A function that ends all processes when its body throws. The rest is its body.
#define PGAS_SHMEM_DEFINE(RESULT, NAME, PARAMETERS, ...)                        \
  RESULT pshmem_##NAME PARAMETERS {                                             \
    return ::pgas::capi::must("shmem_" #NAME, [&]() -> RESULT { __VA_ARGS__ }); \
  }                                                                             \
  PGAS_SHMEM_ALIAS(RESULT, NAME, PARAMETERS)

/// The same without and with a context, which its body calls `ctx`.
#define PGAS_SHMEM_DEFINE_CTX(RESULT, NAME, PARAMETERS, ...)                    \
  RESULT pshmem_##NAME PARAMETERS {                                             \
    const shmem_ctx_t ctx = SHMEM_CTX_DEFAULT;                                  \
    return ::pgas::capi::must("shmem_" #NAME, [&]() -> RESULT { __VA_ARGS__ }); \
  }                                                                             \
  PGAS_SHMEM_ALIAS(RESULT, NAME, PARAMETERS)                                    \
  PGAS_SHMEM_DEFINE(RESULT, ctx_##NAME, (shmem_ctx_t ctx, PGAS_SHMEM_UNPACK PARAMETERS), __VA_ARGS__)

/// A function that returns zero, or nonzero when its body throws.
#define PGAS_SHMEM_DEFINE_STATUS(NAME, PARAMETERS, ...)                     \
  int pshmem_##NAME PARAMETERS {                                            \
    return ::pgas::capi::shmem_status("shmem_" #NAME, [&] { __VA_ARGS__ }); \
  }                                                                         \
  PGAS_SHMEM_ALIAS(int, NAME, PARAMETERS)

/// A function that returns FAILED when its body throws.
#define PGAS_SHMEM_DEFINE_OR(RESULT, FAILED, NAME, PARAMETERS, ...)                                             \
  RESULT pshmem_##NAME PARAMETERS {                                                                             \
    return ::pgas::capi::guarded("shmem_" #NAME, static_cast<RESULT>(FAILED), [&]() -> RESULT { __VA_ARGS__ }); \
  }                                                                                                             \
  PGAS_SHMEM_ALIAS(RESULT, NAME, PARAMETERS)
