// Device code in another translation unit, with the same state as the kernel that calls it.
#include <nvshmem.h>
#include <nvshmemx.h>

#include "libraries.hpp"

__device__ void second_unit(int* cell) {
  if (threadIdx.x == 0) nvshmem_int_atomic_add(cell, 10000, nvshmem_my_pe());
}
