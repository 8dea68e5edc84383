/// @file
/// Where NVSHMEM has the extensions that the host calls, for programs that include it from there.
#pragma once

#include "pgas/compat/nvshmem.h"
