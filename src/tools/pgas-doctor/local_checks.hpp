/// @file
/// Checks that a process makes without other PEs. Each check executes the operation as a program does, because
/// permissions alone do not show whether the operation works. Checks remove the objects that they make.
#pragma once

#include <string>
#include <vector>

#include "pgas/config.hpp"
#include "tools/pgas-doctor/examination.hpp"
#include "tools/pgas-doctor/row.hpp"

namespace pgas::doctor {

// ---- what Linux and the container allow (check_kernel.cpp)

[[nodiscard]] row check_proc(const config& settings);
/// Memory files, which the host heap uses.
[[nodiscard]] row check_memory_files(const config& settings);
/// Sockets with which PEs of a host send descriptors to one another.
[[nodiscard]] row check_descriptor_passing(const config& settings);
/// Process descriptors, with which PEs detect the death of another PE.
[[nodiscard]] row check_process_handles();
[[nodiscard]] row check_threads();
/// The restrictions of the container in which the process runs.
[[nodiscard]] row check_container();

// ---- limits of the process (check_limits.cpp)

/// Memory that may be locked, which network devices need.
[[nodiscard]] row check_locked_memory();
[[nodiscard]] row check_file_size(const config& settings);
[[nodiscard]] row check_memory(const config& settings);
/// The address space for a world of `pes` PEs that share memory.
[[nodiscard]] row check_address_space(const config& settings, int pes);
/// The limit of open files for a world of `pes` PEs.
[[nodiscard]] row check_open_files(int pes);

// ---- memory (check_host_segments.cpp)

/// For each kind of handle, a segment of the host heap is made, exported, imported, mapped, stored to, and updated
/// atomically.
[[nodiscard]] row check_host_segments(const config& settings);

// ---- GPUs (check_gpus.cpp)

/// The GPUs that a process can see.
struct gpu_findings {
  /// Rows about the driver, the GPUs, access between GPUs, fabric handles, MPS, clocks, the CPUs near each GPU, and
  /// segments.
  std::vector<row> rows;
  std::vector<std::string> uuids;  ///< UUIDs by number
};
[[nodiscard]] gpu_findings check_gpus(const config& settings, const request& how);

// ---- the network (check_network.cpp)

/// The interface that PGAS_SOCKET_IFNAME names, or all interfaces. @param needed whether the job uses the network
[[nodiscard]] row check_interfaces(const config& settings, bool needed);

}  // namespace pgas::doctor
