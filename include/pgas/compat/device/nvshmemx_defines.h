/// @file
/// NVSHMEM's header of operations of warps and blocks, for programs that include it by this name.
#pragma once

#include "pgas/compat/nvshmem.h"
