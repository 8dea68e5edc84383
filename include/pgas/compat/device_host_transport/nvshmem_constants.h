/// @file
/// NVSHMEM's header of constants, for programs that include it by this name.
#pragma once

#include "pgas/compat/nvshmem/types.h"
