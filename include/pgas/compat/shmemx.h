/// @file
/// The header for extensions of an OpenSHMEM library. This library has none: pgas's own operations have separate
/// headers.
#pragma once

#include "shmem.h"
