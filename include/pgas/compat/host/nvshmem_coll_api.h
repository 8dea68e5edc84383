/// @file
/// NVSHMEM's header of host collectives, for programs that include it by this name.
#pragma once

#include "pgas/compat/nvshmem.h"
