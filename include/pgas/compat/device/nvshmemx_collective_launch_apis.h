/// @file
/// NVSHMEM's header of launches, for programs that include it by this name.
#pragma once

#include "pgas/compat/nvshmem.h"
