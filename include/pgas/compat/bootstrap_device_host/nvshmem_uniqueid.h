/// @file
/// NVSHMEM's header of unique ids, for programs that include it by this name.
#pragma once

#include "pgas/detail/names_begin.inc"

#include "pgas/compat/nvshmem/types.h"

#include "pgas/detail/names_end.inc"
