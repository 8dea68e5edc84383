/// @file
/// How the functions of shmem.h are written: each once, under its profiling name, of which the other is a weak alias,
/// so that a program or a profiler may put its own in front.
#pragma once

#include <type_traits>

#include "host/capi/global_exit.hpp"
#include "host/capi/runtime.hpp"
#include "host/capi/shmem_library.hpp"
#include "pgas/compat/shmem.h"

/// The types that only OpenSHMEM has, in types.inc.
#define PGAS_OPENSHMEM_TYPES

namespace pgas::capi {

/// Runs what a function without a status does.
template <class Body>
auto shmem_call(Body&& body) -> decltype(body()) {
  try {
    return body();
  } catch (const error& cause) {
    end_if_asked(cause);
    throw;
  }
}

/// Runs what a function does that returns `failed` when it could not.
template <class Failed, class Body>
auto shmem_attempt(const char* function, Failed failed, Body&& body) noexcept -> decltype(body()) {
  return guarded(
      function,
      [&](const error& cause) -> decltype(body()) {
        end_if_asked(cause);
        return failed;
      },
      body);
}

/// The same for functions that return zero when it went well.
template <class Body>
int shmem_status(const char* function, Body&& body) noexcept {
  return shmem_attempt(function, -1, [&] {
    body();
    return 0;
  });
}

}  // namespace pgas::capi

#define PGAS_SHMEM_UNPACK(...) __VA_ARGS__
#define PGAS_SHMEM_ALIAS(RESULT, NAME, PARAMETERS) \
  __attribute__((weak, alias("pshmem_" #NAME), visibility("default"))) RESULT shmem_##NAME PARAMETERS;

/// A function whose errors pass on to the caller. The rest is its body.
#define PGAS_SHMEM_DEFINE(RESULT, NAME, PARAMETERS, ...)              \
  RESULT pshmem_##NAME PARAMETERS {                                   \
    return ::pgas::capi::shmem_call([&]() -> RESULT { __VA_ARGS__ }); \
  }                                                                   \
  PGAS_SHMEM_ALIAS(RESULT, NAME, PARAMETERS)

/// The same without and with a context, which its body calls `ctx`.
#define PGAS_SHMEM_DEFINE_CTX(RESULT, NAME, PARAMETERS, ...)          \
  RESULT pshmem_##NAME PARAMETERS {                                   \
    const shmem_ctx_t ctx = SHMEM_CTX_DEFAULT;                        \
    return ::pgas::capi::shmem_call([&]() -> RESULT { __VA_ARGS__ }); \
  }                                                                   \
  PGAS_SHMEM_ALIAS(RESULT, NAME, PARAMETERS)                          \
  PGAS_SHMEM_DEFINE(RESULT, ctx_##NAME, (shmem_ctx_t ctx, PGAS_SHMEM_UNPACK PARAMETERS), __VA_ARGS__)

/// A function that returns zero, or nonzero when its body throws.
#define PGAS_SHMEM_DEFINE_STATUS(NAME, PARAMETERS, ...)                     \
  int pshmem_##NAME PARAMETERS {                                            \
    return ::pgas::capi::shmem_status("shmem_" #NAME, [&] { __VA_ARGS__ }); \
  }                                                                         \
  PGAS_SHMEM_ALIAS(int, NAME, PARAMETERS)

/// A function that returns FAILED when its body throws.
#define PGAS_SHMEM_DEFINE_OR(RESULT, FAILED, NAME, PARAMETERS, ...)                                                   \
  RESULT pshmem_##NAME PARAMETERS {                                                                                   \
    return ::pgas::capi::shmem_attempt("shmem_" #NAME, static_cast<RESULT>(FAILED), [&]() -> RESULT { __VA_ARGS__ }); \
  }                                                                                                                   \
  PGAS_SHMEM_ALIAS(RESULT, NAME, PARAMETERS)
