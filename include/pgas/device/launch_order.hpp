/// @file
/// The order of a stream's launches, where kernels relax it (programmatic dependent launch, CUDA Programming Guide). On
/// the CPU, on GPUs before sm_90, and with drivers before CUDA 12.3, a launch begins when the one before it has ended,
/// and nothing of this has an effect: so no launch may wait for what the next one does.
#pragma once

#include "pgas/detail/names_begin.inc"

#include "pgas/detail/isa/ptx_gpu_scope.hpp"

namespace pgas {

/// Lets the stream's next launch begin, if it is one that overlaps (launch_config::overlaps): when each block of this
/// one has called this, or has ended. Blocks of others have no effect before that, so all of this one have their
/// places.
///
/// *Callers* any thread of a block, one or more. *Order* none: what this launch has written, and will write, is seen by
/// the next one after its await_earlier_launches().
PGAS_FN void trigger_next_launch() { detail::trigger_successor(); }

/// Waits until the stream's earlier launches have ended, in a launch that overlaps with them. Elsewhere it returns at
/// once.
///
/// *Callers* any thread, which keeps its block's place meanwhile. Not all blocks of a large grid should: the earlier
/// launch may wait for a PE that needs a place on this GPU. *Order* what they wrote is visible to the caller.
PGAS_FN void await_earlier_launches() { detail::wait_for_predecessor(); }

}  // namespace pgas

#include "pgas/detail/names_end.inc"
