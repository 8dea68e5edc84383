/// @file
/// Functions by which kernels relax the order of a stream's launches (programmatic dependent launch, CUDA Programming
/// Guide). On the CPU, on GPUs before sm_90, and with drivers before CUDA 12.3, a launch begins when the previous
/// launch has ended, and the functions of this file have no effect. A launch must therefore never wait for the next
/// launch of its stream.
#pragma once

#include "pgas/detail/names_begin.inc"

#include "pgas/detail/isa/ptx_gpu_scope.hpp"

namespace pgas {

/// @brief Allows the stream's next launch to begin before this launch ends, if the next launch overlaps
/// (launch_config::overlaps).
///
/// The next launch begins when each block of this launch has called this function or has ended. Therefore every block
/// of this launch has started before any block of the next launch starts.
///
/// *Callers* any thread; several threads of a block may call the function.
/// *Order* none: to see the writes of this launch, the next launch must call await_earlier_launches().
PGAS_FN void trigger_next_launch() { detail::trigger_successor(); }

/// @brief In a launch that overlaps with earlier launches of its stream, waits until the earlier launches have ended.
///
/// In a launch that does not overlap, the function returns immediately.
///
/// *Callers* any thread. The block of the caller stays resident during the wait. In a large grid, not all blocks should
/// call the function. The waiting blocks occupy resources of this GPU, and the earlier launch may wait for a PE that
/// needs these resources.
/// *Order* writes of the earlier launches are visible to the caller.
PGAS_FN void await_earlier_launches() { detail::wait_for_predecessor(); }

}  // namespace pgas

#include "pgas/detail/names_end.inc"
