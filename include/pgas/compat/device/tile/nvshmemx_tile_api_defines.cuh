/// @file
/// NVSHMEM's header that defines the tile operations, for programs that include it by this name.
#pragma once

#include "pgas/compat/nvshmemx.h"
