/// @file
/// The status codes of functions, their names, and a macro with which programs report failures.
#pragma once

#include "pgas/detail/names_begin.inc"

#if !defined(__CUDACC_RTC__)
#include <stdio.h>
#endif

#include "pgas/compat/nvshmem/types.h"

/// The names of statuses, by number.
#define PGAS_NVSHMEM_NAME(NAME) #NAME,
[[maybe_unused]] static const char* const nvshmemx_status_strings[] = {NVSHMEMX_STATUS_LIST(PGAS_NVSHMEM_NAME)};
#undef PGAS_NVSHMEM_NAME

#if defined(__CUDACC__)
#define PGAS_NVSHMEM_ON_BOTH __host__ __device__
#else
#define PGAS_NVSHMEM_ON_BOTH
#endif
#define PGAS_NVSHMEM_CASE(NAME) \
  case NAME: return #NAME;
/// The name of a status, such as "NVSHMEMX_ERROR_SYMMETRY". *Callers* host and kernels.
PGAS_NVSHMEM_ON_BOTH inline const char* nvshmemx_status_string(int status) {
  switch (status) {
    NVSHMEMX_STATUS_LIST(PGAS_NVSHMEM_CASE)
    default: return "NVSHMEMX_ERROR_<unknown>";
  }
}
#undef PGAS_NVSHMEM_CASE
#undef PGAS_NVSHMEM_ON_BOTH

#if !defined(__CUDACC_RTC__)
/// Prints file and line to stderr, followed by the arguments as printf() prints them.
#define NVSHMEMI_ERROR_PRINT(...)                                      \
  do {                                                                 \
    static_cast<void>(fprintf(stderr, "%s:%d: ", __FILE__, __LINE__)); \
    static_cast<void>(fprintf(stderr, __VA_ARGS__));                   \
  } while (0)
#endif

#include "pgas/detail/names_end.inc"
