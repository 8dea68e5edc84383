/// @file
/// The statuses of functions, and a macro with which programs report failures. Host side.
#pragma once

#include "pgas/detail/names_begin.inc"

#include <stdio.h>

#include "pgas/compat/nvshmem/types.h"

/// Prints to stderr like printf(), after file and line.
#define NVSHMEMI_ERROR_PRINT(...)                                      \
  do {                                                                 \
    static_cast<void>(fprintf(stderr, "%s:%d: ", __FILE__, __LINE__)); \
    static_cast<void>(fprintf(stderr, __VA_ARGS__));                   \
  } while (0)

#include "pgas/detail/names_end.inc"
