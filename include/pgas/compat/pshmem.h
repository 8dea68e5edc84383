/// @file
/// The profiling names of OpenSHMEM: each function of <shmem.h> is also there with `pshmem_` in front, for libraries
/// that replace the `shmem_` one.
#pragma once

#include "shmem.h"
