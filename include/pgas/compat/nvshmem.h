/// @file
/// NVSHMEM's interface over pgas: existing programs compile as they are. Functions of the host are there in any C++17
/// unit, those of kernels under nvcc, with and without -rdc=true. Link to nvshmem_host (and nvshmem_device, which is
/// empty).
///
/// *Errors* functions of the host that return a status or a pointer return nonzero or null. All others log what went wrong,
/// with their name, and end the processes of all PEs with status 1, as nvshmem_global_exit() does.
#pragma once

#include "pgas/compat/nvshmem/constants.h"
#include "pgas/compat/nvshmem/types.h"
#if !defined(__CUDACC_RTC__)
#include "pgas/compat/nvshmem/launch.h"
#include "pgas/compat/nvshmem/memory.h"
#include "pgas/compat/nvshmem/setup.h"
#include "pgas/compat/nvshmem/teams.h"
#include "pgas/compat/nvshmemx_error.h"
#endif

#include "pgas/compat/nvshmem/families.h"
