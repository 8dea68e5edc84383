/// @file
/// NVSHMEM's header of tensors, for programs that include it by this name.
#pragma once

#include "pgas/compat/nvshmem/tensor.h"
