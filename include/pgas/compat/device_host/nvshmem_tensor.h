/// @file
/// NVSHMEM's header of tensors, for programs that include it by this name.
#pragma once

#include "pgas/detail/names_begin.inc"

#include "pgas/compat/nvshmem/tensor.h"

#include "pgas/detail/names_end.inc"
