/// @file
/// The contexts and peers of the kernels in the codegen tests. With -DCODEGEN_DIRECT, the contexts and peers have only
/// the direct route. Without this option, they have all routes.
#pragma once

#include <pgas/device.hpp>

using namespace pgas;

#if defined(CODEGEN_DIRECT)
using any_context = direct_context;
using any_peer = direct_peer;
#else
using any_context = context;
using any_peer = peer;
#endif
