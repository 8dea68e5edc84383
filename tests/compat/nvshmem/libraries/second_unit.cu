// Device code in a second translation unit. The code uses the same device state as the kernel that calls the code.
#include <nvshmem.h>
#include <nvshmemx.h>

#include "libraries.hpp"

__device__ void second_unit(int* cell) {
  if (threadIdx.x == 0) nvshmem_int_atomic_add(cell, 10000, nvshmem_my_pe());
}
