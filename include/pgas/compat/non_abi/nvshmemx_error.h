/// @file
/// The new path of <nvshmemx_error.h> in NVSHMEM.
#pragma once

#include "pgas/compat/nvshmemx_error.h"
