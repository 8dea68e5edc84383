/// @file
/// C++: reductions of complex numbers for programs that have C's types (`float _Complex`, as <complex.h> of the GNU
/// compilers gives them to C++) beside those for std::complex. They are laid out alike.
#pragma once

#include "active_set.h"
#include "collective.h"
#include "types.h"

#if defined(__cplusplus) && defined(__GNUC__)
__extension__ typedef float _Complex pgas_shmem_complexf;
__extension__ typedef double _Complex pgas_shmem_complexd;

#define PGAS_SHMEM_OF_C(NAME, OF_C, OF_CXX)                                                                     \
  inline int shmem_##NAME(shmem_team_t team, OF_C* dest, const OF_C* source, size_t count) {                    \
    return shmem_##NAME(team, reinterpret_cast<OF_CXX*>(dest), reinterpret_cast<const OF_CXX*>(source), count); \
  }
#define PGAS_SHMEM_OF_C_TO_ALL(NAME, OF_C, OF_CXX)                                                                   \
  inline void shmem_##NAME(OF_C* dest, const OF_C* source, int nreduce, int PE_start, int logPE_stride, int PE_size, \
                           OF_C* pWrk, long* pSync) {                                                                \
    shmem_##NAME(reinterpret_cast<OF_CXX*>(dest), reinterpret_cast<const OF_CXX*>(source), nreduce, PE_start,        \
                 logPE_stride, PE_size, reinterpret_cast<OF_CXX*>(pWrk), pSync);                                     \
  }
#define PGAS_SHMEM_ALL_OF_C(NAME, OF_C, OF_CXX)           \
  PGAS_SHMEM_OF_C(NAME##_sum_reduce, OF_C, OF_CXX)        \
  PGAS_SHMEM_OF_C(NAME##_prod_reduce, OF_C, OF_CXX)       \
  PGAS_SHMEM_OF_C(NAME##_sum_inscan, OF_C, OF_CXX)        \
  PGAS_SHMEM_OF_C(NAME##_sum_exscan, OF_C, OF_CXX)        \
  PGAS_SHMEM_OF_C_TO_ALL(NAME##_sum_to_all, OF_C, OF_CXX) \
  PGAS_SHMEM_OF_C_TO_ALL(NAME##_prod_to_all, OF_C, OF_CXX)
PGAS_SHMEM_ALL_OF_C(complexf, pgas_shmem_complexf, std::complex<float>)
PGAS_SHMEM_ALL_OF_C(complexd, pgas_shmem_complexd, std::complex<double>)
#undef PGAS_SHMEM_OF_C
#undef PGAS_SHMEM_OF_C_TO_ALL
#undef PGAS_SHMEM_ALL_OF_C
#endif
