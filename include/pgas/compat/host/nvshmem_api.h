/// @file
/// Where NVSHMEM has the functions that the host calls, for programs that include it from there.
#pragma once

#include "pgas/compat/nvshmem.h"
