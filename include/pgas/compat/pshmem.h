/// @file
/// The profiling names of OpenSHMEM: each function of <shmem.h> also exists with the prefix `pshmem_`, for libraries
/// that replace the `shmem_` function.
#pragma once

#include "shmem.h"
