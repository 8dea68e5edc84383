/// @file
/// The number of blocks that a device can hold beside the blocks of other PEs and beside the proxy's kernel.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "host/topology/device_descriptor.hpp"
#include "pgas/detail/launch/launch_kernel.hpp"

namespace pgas::detail {

/// Returns a divisor d: the blocks of PE `me` must fit on 1/d of the multiprocessors that `me` can use. The divisor is
/// the number of PEs whose kernels run on the device at the same time, including `me`. Without MPS, these are the PEs
/// of the process. Under MPS, these are the PEs of all processes on the device. MPS can limit each of these processes
/// to a range of multiprocessors, and all ranges start at the same multiprocessor. Therefore the smallest range must
/// hold the blocks of all PEs. If the range of `me` is larger than the smallest range, the divisor is multiplied by the
/// ratio of their sizes.
[[nodiscard]] unsigned concurrent_pes(std::span<const device_user> users, std::size_t me);

/// Whether the device runs processes in time slices, because another process uses it without MPS.
[[nodiscard]] bool time_sliced(std::span<const device_user> users, std::size_t me);

/// The largest number of blocks of a collective kernel of the library. Such a kernel waits for blocks of other PEs. The
/// next kernel of a stream can start while the previous kernel still runs. Therefore twice this number fits on every
/// device, together with the blocks of the other PEs that use the device. At most 32.
[[nodiscard]] unsigned max_collective_blocks(std::span<const device_user> users);

/// The limit of a resident grid in a world with proxied peers. The proxy's kernel executes the peers' operations on
/// this PE's memory and needs room beside the grid. Returns a number of blocks that leaves room for one warp of the
/// proxy, however the GPU distributes the blocks over its multiprocessors.
[[nodiscard]] unsigned blocks_beside_proxy(const resident_kernel& kernel, const device_properties& gpu);

/// Whether the proxy's kernel can be queued behind kernels of the same process that wait for the proxy. Under MPS, CUDA
/// gives a process few hardware queues: on an H100 with CUDA 13, two waiting streams fill them.
/// CUDA_DEVICE_MAX_CONNECTIONS, here `connections`, can request more queues.
[[nodiscard]] bool lacks_queue_for_proxy(const device_properties& gpu, const std::optional<std::string>& connections);

}  // namespace pgas::detail
