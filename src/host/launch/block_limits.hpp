/// @file
/// The number of blocks that a device holds beside the blocks of other PEs on it and beside the proxy's kernel.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "host/topology/device_descriptor.hpp"
#include "pgas/detail/launch/launch_kernel.hpp"

namespace pgas::detail {

/// The number of PEs, `me` included, whose kernels run on the device at the same time: the PEs of its process, under
/// MPS those of all processes. The multiprocessors that a process may use are divided by it. Under MPS these ranges
/// start at the same multiprocessor, so a process with a larger range divides by more.
[[nodiscard]] unsigned concurrent_pes(std::span<const device_user> users, std::size_t me);

/// Whether another process has the same device, and the kernels of the two run in turns.
[[nodiscard]] bool takes_turns(std::span<const device_user> users, std::size_t me);

/// The most blocks of the library's collective kernels, whose blocks wait for those of other PEs. Twice as many fit on
/// every device together with those of the other PEs there, as the next kernel of a stream may start while one still
/// runs. At most 32.
[[nodiscard]] unsigned max_collective_blocks(std::span<const device_user> users);

/// The limit of a resident grid in a world with proxied peers: the proxy's kernel, which executes their operations on
/// this PE's memory, needs room beside it. How many of these blocks a GPU holds, in any distribution over its
/// multiprocessors, with room for one warp of the proxy.
[[nodiscard]] unsigned blocks_beside_proxy(const resident_kernel& kernel, const device_properties& gpu);

/// Whether the proxy's kernel may get stuck behind kernels of the same process that wait for it: under MPS CUDA gives a
/// process few hardware queues (on an H100 with CUDA 13 two streams that wait fill them), unless
/// CUDA_DEVICE_MAX_CONNECTIONS, here `connections`, asks for more.
[[nodiscard]] bool lacks_queue_for_proxy(const device_properties& gpu, const std::optional<std::string>& connections);

}  // namespace pgas::detail
