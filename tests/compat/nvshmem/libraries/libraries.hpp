/// @file
/// The function of each library. Its kernel adds LIBRARY_VALUE, 100 for each member of the team, and 10000 if there is
/// a second translation unit. The function returns the sum.
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
