/// @file
/// NVSHMEM's header of collectives that kernels call, for programs that include it by this name.
#pragma once

#include "pgas/compat/nvshmem.h"
