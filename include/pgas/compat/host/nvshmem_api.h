/// @file
/// NVSHMEM's header of host functions, for programs that include it by this name.
#pragma once

#include "pgas/compat/nvshmem.h"
