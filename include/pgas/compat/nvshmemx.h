/// @file
/// The header of NVSHMEM's extensions, which nvshmem.h declares as well, as NVIDIA's does.
#pragma once

#include "pgas/compat/nvshmem.h"
