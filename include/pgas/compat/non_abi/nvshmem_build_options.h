/// @file
/// The macros for optional parts of NVSHMEM, for programs that test these macros. The macros of parts that a program
/// loads when it starts are defined: MPI, OpenSHMEM, PMIx, UCX, NVTX. The transports of NVSHMEM itself (IBRC, IBDEVX,
/// IBGDA, GPUNETIO, LIBFABRIC) are not defined, because a program that finds such a definition calls NVSHMEM's internal
/// functions.
#pragma once

#include "pgas/detail/names_begin.inc"

#define NVSHMEM_MPI_SUPPORT
#define NVSHMEM_NVTX
#define NVSHMEM_PMIX_SUPPORT
#define NVSHMEM_SHMEM_SUPPORT
#define NVSHMEM_UCX_SUPPORT

#include "pgas/detail/names_end.inc"
