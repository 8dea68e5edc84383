/// @file
/// The contexts and peers that the kernels of the codegen tests are called with: of load and store only with
/// -DCODEGEN_DIRECT, else of all routes.
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
