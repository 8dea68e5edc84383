/// @file
/// Checks that a process makes by itself. Each does what a program would do, rather than look whether it could, and
/// leaves nothing behind.
#pragma once

#include <string>
#include <vector>

#include "pgas/config.hpp"
#include "tools/pgas-doctor/examination.hpp"
#include "tools/pgas-doctor/row.hpp"

namespace pgas::doctor {

// ---- what the kernel and the container allow (check_kernel.cpp)

[[nodiscard]] row check_proc(const config& settings);
/// Files of memory, which the host heap consists of.
[[nodiscard]] row check_memory_files(const config& settings);
/// Sockets by which PEs of a host pass descriptors to one another.
[[nodiscard]] row check_descriptor_passing(const config& settings);
/// Handles of processes, by which PEs learn of a death.
[[nodiscard]] row check_process_handles();
[[nodiscard]] row check_threads();
/// The restrictions of a container that are in force.
[[nodiscard]] row check_container();

// ---- limits of the process (check_limits.cpp)

/// Memory that may be locked, which network devices need.
[[nodiscard]] row check_locked_memory();
[[nodiscard]] row check_file_size(const config& settings);
[[nodiscard]] row check_memory(const config& settings);
/// The layout of a world of `pes` PEs that share memory.
[[nodiscard]] row check_address_space(const config& settings, int pes);
/// Open files, of a world of `pes` PEs.
[[nodiscard]] row check_open_files(int pes);

// ---- memory (check_host_segments.cpp)

/// A segment of the host heap, for each kind of handle: made, exported, imported, mapped, stored to, atomically
/// updated.
[[nodiscard]] row check_host_segments(const config& settings);

// ---- GPUs (check_gpus.cpp)

/// The GPUs that a process can see.
struct gpu_findings {
  std::vector<row> rows;           ///< driver, GPUs, each other's access, fabric, MPS, clocks, CPUs close by, segments
  std::vector<std::string> uuids;  ///< by number
};
[[nodiscard]] gpu_findings check_gpus(const config& settings, const request& how);

// ---- the network (check_network.cpp)

/// The interface that PGAS_SOCKET_IFNAME names, or those there are. @param needed the job goes over the network
[[nodiscard]] row check_interfaces(const config& settings, bool needed);
/// The active ports of InfiniBand and RoCE: "mlx5_0:1".
[[nodiscard]] std::vector<std::string> rdma_ports();

}  // namespace pgas::doctor
