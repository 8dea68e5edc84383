/// @file
/// The place that NVSHMEM has moved <nvshmemx_error.h> to.
#pragma once

#include "pgas/compat/nvshmemx_error.h"
