/// @file
/// The extensions of NVSHMEM's interface, which nvshmem.h has too, as NVIDIA's does.
#pragma once

#include "pgas/compat/nvshmem.h"
