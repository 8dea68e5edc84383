/// @file
/// NVSHMEM's header of the host interface, for programs that include it by this name.
#pragma once

#include "pgas/compat/nvshmem.h"
