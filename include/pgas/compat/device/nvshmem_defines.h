/// @file
/// NVSHMEM's header of operations that kernels call, for programs that include it by this name.
#pragma once

#include "pgas/compat/nvshmem.h"
