/// @file
/// The function of each library: its kernel adds LIBRARY_VALUE, 100 for each member of the team, and 10000 in a second
/// translation unit where there is one; the function returns the sum.
#pragma once

#include <nvshmem.h>

#if defined(LIBRARY_OF_TWO_UNITS)
/// In second_unit.cu: linked to the kernel by -rdc=true.
__device__ void second_unit(int* cell);
#elif defined(__CUDACC__)
__device__ inline void second_unit(int*) {}
#endif

extern "C" {
int first_library(nvshmem_team_t team);
int second_library(nvshmem_team_t team);
int program_itself(nvshmem_team_t team);
}
