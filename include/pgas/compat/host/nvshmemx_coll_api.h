/// @file
/// NVSHMEM's header of collectives on streams, for programs that include it by this name.
#pragma once

#include "pgas/compat/nvshmem.h"
