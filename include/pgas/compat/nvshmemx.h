/// @file
/// The header of NVSHMEM's extensions: what nvshmem.h declares, as NVIDIA's does, and the tile operations. A host unit
/// gets the tensors too, where its compiler finds libcu++.
#pragma once

#include "pgas/detail/names_begin.inc"

#include "pgas/compat/nvshmem.h"
#include "pgas/compat/nvshmem/tensor.h"
#include "pgas/compat/nvshmem/tile_api.h"

#include "pgas/detail/names_end.inc"
