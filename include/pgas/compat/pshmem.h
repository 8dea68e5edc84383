/// @file
/// The profiling names of OpenSHMEM: each function of <shmem.h> is also there with `pshmem_` in front, for libraries
/// that take the place of the `shmem_` one.
#pragma once

#include "shmem.h"
