/// @file
/// Copies of many blocks on a stream of the application, in memory that this process has mapped: its own memory, and
/// memory opened by a ticket (shared_memory.hpp). The copies need no world. A timeline (timeline.hpp) tells the other
/// process when the blocks have been copied.
#pragma once

#include "pgas/detail/names_begin.inc"

#include "pgas/copy_list.hpp"
#include "pgas/detail/compiler.hpp"
#include "pgas/shared_memory.hpp"

namespace pgas {

/// @brief Enqueues the copies of a list on a stream.
///
/// Kernels of the GPU `place` copy the blocks. If the host can read the list during the call and the blocks have 8 MiB
/// or more, the copy engines copy the blocks. The first call for a GPU loads the library's kernels. Loading the kernels
/// waits for running kernels.
///
/// @param place the device of the stream
/// @param stream a `cudaStream_t` (null: CUDA's default stream). On the host, pass pgas::stream::native() of a world on
/// the host heap; if `stream` is null, the calling thread copies immediately
/// @param list the blocks. All addresses must belong to memory that the device can access
/// @param most_blocks the limit of thread blocks; 0: the library determines the number
/// *Callers* any thread. *Memory* as for copy_list: arrays in pageable memory are read during the call, all other
/// arrays when the stream executes the copies, also at each launch of a graph that captured the call. *Order* the
/// copies follow earlier work of the stream, and are complete before later work begins. So if the stream then records a
/// value of a timeline, a process that sees the value sees all blocks. *Errors* device_unavailable; invalid_argument
/// for a null array; capturing, for an array in pageable memory in a capture; device_failed. Invalid addresses are not
/// detected.
PGAS_API void copy_blocks(memory_place place, void* stream, const copy_list& list, unsigned most_blocks = 0);

}  // namespace pgas

#include "pgas/detail/names_end.inc"
