/// @file
/// What this implementation has of the parts that NVSHMEM can be built with, for programs that ask by the preprocessor.
/// Parts that are looked for when a program starts are there: MPI, OpenSHMEM, PMIx, UCX, NVTX. The transports of
/// NVSHMEM itself (IBRC, IBDEVX, IBGDA, GPUNETIO, LIBFABRIC) are not: a program that finds one defined calls its
/// internal functions.
#pragma once

#include "pgas/detail/names_begin.inc"

#define NVSHMEM_MPI_SUPPORT
#define NVSHMEM_NVTX
#define NVSHMEM_PMIX_SUPPORT
#define NVSHMEM_SHMEM_SUPPORT
#define NVSHMEM_UCX_SUPPORT

#include "pgas/detail/names_end.inc"
