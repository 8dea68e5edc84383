/// @file
/// NVSHMEM's header of declarations for host and device, for programs that include it by this name.
#pragma once

#include "pgas/compat/nvshmem.h"
