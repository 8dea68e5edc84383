/// @file
/// NVSHMEM's header of host extensions, for programs that include it by this name.
#pragma once

#include "pgas/compat/nvshmem.h"
