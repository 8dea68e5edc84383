/// @file
/// Where NVSHMEM has what hosts and kernels have in common, for programs that include it from there.
#pragma once

#include "pgas/compat/nvshmem.h"
