/// @file
/// The header of NVSHMEM's extensions: includes nvshmem.h, as NVIDIA's header does, and the tile operations. Host code
/// can also use the tensors of the tile operations if its compiler finds libcu++.
#pragma once

#include "pgas/detail/names_begin.inc"

#include "pgas/compat/nvshmem.h"
#include "pgas/compat/nvshmem/tensor.h"
#include "pgas/compat/nvshmem/tile_api.h"

#include "pgas/detail/names_end.inc"
