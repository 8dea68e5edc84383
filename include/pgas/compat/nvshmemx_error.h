/// @file
/// The statuses that functions return, and what programs report failures with. Host side.
#pragma once

#include <stdio.h>

#include "pgas/compat/nvshmem/constants.h"

/// Prints to stderr as printf() does, behind the place in the program.
#define NVSHMEMI_ERROR_PRINT(...)                                      \
  do {                                                                 \
    static_cast<void>(fprintf(stderr, "%s:%d: ", __FILE__, __LINE__)); \
    static_cast<void>(fprintf(stderr, __VA_ARGS__));                   \
  } while (0)
