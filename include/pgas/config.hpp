/// @file
/// Every setting of the library in one struct. Each field has one row in the table of
/// `src/host/config/option_table.cpp` (variable, type, default, help, aliases of NVSHMEM and OpenSHMEM), which is the
/// source of parsing, `pgas-info` and `docs/configuration.md`.
#pragma once

#include "pgas/detail/names_begin.inc"

#include <chrono>
#include <cstddef>
#include <string>

#include "pgas/detail/compiler.hpp"
#include "pgas/detail/struct_members.hpp"

namespace pgas {

/// @brief The location of the symmetric heap.
enum class heap_kind { automatic, cuda, host };

/// @brief The kind of handle by which a process exports a segment to another process.
enum class handle_kind : std::uint8_t { automatic, fabric, posix_fd, named, cuda_ipc };

/// @brief The amount of logging.
enum class log_level { error, warn, info, debug };

/// @brief Settings of one world.
///
/// A default-constructed config holds the defaults; config::from_environment() applies `PGAS_*`.
struct config {
  std::string bootstrap = "auto";                   ///< PGAS_BOOTSTRAP
  std::string unique_id;                            ///< PGAS_UNIQUE_ID
  std::string secret;                               ///< PGAS_SECRET
  std::string socket_ifname;                        ///< PGAS_SOCKET_IFNAME
  bool private_network = false;                     ///< PGAS_PRIVATE_NETWORK: UCX may use TCP between hosts
  std::chrono::milliseconds join_timeout{60'000};   ///< PGAS_JOIN_TIMEOUT
  heap_kind heap = heap_kind::automatic;            ///< PGAS_HEAP
  handle_kind mem_handle = handle_kind::automatic;  ///< PGAS_MEM_HANDLE
  int device = -1;             ///< PGAS_DEVICE: GPU number; -1: the current GPU; without a current GPU, by local rank
  std::size_t heap_limit = 0;  ///< PGAS_HEAP_LIMIT: bytes per PE, 0: the device's memory
  std::size_t segment_size = std::size_t{4} << 20;  ///< PGAS_SEGMENT_SIZE: minimum size of the first segment
  std::size_t heap_stride = 0;                      ///< PGAS_HEAP_STRIDE: bytes between slots, 0: largest device memory
  std::string p2p = "all";       ///< PGAS_P2P: which PEs of a host share memory; other PEs use the network
  std::string socket_directory;  ///< PGAS_SOCKET_DIR: directory of UNIX sockets; empty: abstract names
  std::string test_host;         ///< PGAS_TEST_HOST: the host name that this PE uses; empty: the name of its host
  std::chrono::milliseconds heartbeat_timeout{
      30'000};                                ///< PGAS_HEARTBEAT_TIMEOUT: how long a PE of another host may be silent
  bool checks = false;                        ///< PGAS_CHECKS: argument checks in device operations and collectives
  std::chrono::milliseconds wait_timeout{0};  ///< PGAS_WAIT_TIMEOUT: 0: no time limit, or 60 s with checks
  /// @brief PGAS_DEFAULT_STREAM_WAIT: how long the host barriers of nvshmem.h wait for the legacy default stream
  std::chrono::milliseconds default_stream_wait{1000};
  int host_block_threads = 1;       ///< PGAS_HOST_BLOCK_THREADS: threads per block on the host heap
  bool nvtx = true;                 ///< PGAS_NVTX: profiler ranges on host calls
  log_level log = log_level::warn;  ///< PGAS_LOG
  std::string log_file;  ///< PGAS_LOG_FILE: path of the log; "" is standard error; %h is the host, %p the process id
  bool sigusr1 = false;  ///< PGAS_SIGUSR1: a PE that receives SIGUSR1 logs its waits
  std::string trace;     ///< PGAS_TRACE: path of the trace; "" is none; %r is the PE, %h the host, %p the process id
  int trace_sample = 1;  ///< PGAS_TRACE_SAMPLE: kernels record one millisecond out of every N
  std::chrono::milliseconds wait_warning{60'000};  ///< PGAS_WAIT_WARNING: longer waits are logged; 0: no waits
  bool lent_memory = false;  ///< PGAS_LENT_MEMORY: NVSHMEM programs copy through the memory of nvshmemx_give_smem()

  /// @brief The defaults with the environment applied.
  ///
  /// Reads the environment at each call. An unknown `PGAS_*` variable is logged with the most similar valid name.
  ///
  /// @throws error config_value, naming the variable, its value and the allowed values.
  [[nodiscard, gnu::visibility("hidden")]] static config from_environment();
};

namespace detail {

template <>
struct [[gnu::visibility("hidden")]] members_of<config>
    : member_list<&config::bootstrap, &config::unique_id, &config::secret, &config::socket_ifname,
                  &config::private_network, &config::join_timeout, &config::heap, &config::mem_handle, &config::device,
                  &config::heap_limit, &config::segment_size, &config::heap_stride, &config::p2p,
                  &config::socket_directory, &config::test_host, &config::heartbeat_timeout, &config::checks,
                  &config::wait_timeout, &config::default_stream_wait, &config::host_block_threads, &config::nvtx,
                  &config::log, &config::log_file, &config::sigusr1, &config::trace, &config::trace_sample,
                  &config::wait_warning, &config::lent_memory> {
  static constexpr const char* name = "config";
};

/// Implements config::from_environment().
PGAS_API void read_environment(const wanted<config>& settings);

}  // namespace detail

inline config config::from_environment() {
  config settings;
  detail::read_environment(detail::want(settings));
  return settings;
}

}  // namespace pgas

#include "pgas/detail/names_end.inc"
