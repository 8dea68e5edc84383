/// @file
/// Ends a test program after a failed call of CUDA.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

inline void must(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}
