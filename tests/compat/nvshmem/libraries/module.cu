// Device code that a program loads as a module.
#include <nvshmem.h>
#include <nvshmemx.h>

extern "C" __global__ void greet(int* cell) {
  nvshmem_int_p(cell, nvshmem_my_pe() + 1, (nvshmem_my_pe() + 1) % nvshmem_n_pes());
  nvshmem_barrier_all();
}
