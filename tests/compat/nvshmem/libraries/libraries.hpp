/// @file
/// The function of each library returns a sum that its kernel computes: LIBRARY_VALUE, plus 100 for each member of the
/// team, plus 10000 if there is a second translation unit.
#pragma once

#include <nvshmem.h>

#if defined(LIBRARY_OF_TWO_UNITS)
/// Defined in second_unit.cu, and linked to the kernel by -rdc=true.
__device__ void second_unit(int* cell);
#elif defined(__CUDACC__)
__device__ inline void second_unit(int*) {}
#endif

extern "C" {
int first_library(nvshmem_team_t team);
int second_library(nvshmem_team_t team);
int program_itself(nvshmem_team_t team);
}
