/// @file
/// The header for extensions of an OpenSHMEM library. This library has no extensions of OpenSHMEM: pgas's own
/// operations have separate headers.
#pragma once

#include "shmem.h"
