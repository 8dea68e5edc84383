/// @file
/// The bootstrap connects PEs before they join: an interface of five functions that a program can implement for its
/// launcher. The library uses the bootstrap for joining and for aborting a job. After joining, the control plane
/// connects the PEs.
#pragma once

#include "pgas/detail/names_begin.inc"

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pgas/detail/compiler.hpp"
#include "pgas/detail/struct_members.hpp"

namespace pgas {

/// @brief The bytes of one PE in an all-gather.
using blob = std::vector<std::byte>;

/// @brief Out-of-band exchange among the processes that will form a world.
///
/// *Callers* one thread at a time; every PE makes the same collective calls in the same order.
/// *Errors* each call throws pgas::error (bootstrap_timeout naming the missing PEs, bootstrap_protocol, peer_lost); no
/// call blocks longer than the time limit of the implementation, and no call ends the process.
class PGAS_API bootstrap {
 public:
  virtual ~bootstrap() = default;
  bootstrap() = default;
  bootstrap(const bootstrap&) = delete;
  bootstrap& operator=(const bootstrap&) = delete;

  /// @brief This process's rank, 0..size()-1.
  [[nodiscard]] virtual int rank() const noexcept = 0;
  /// @brief The number of processes.
  [[nodiscard]] virtual int size() const noexcept = 0;
  /// @brief Collective: gives every PE the contributions of all PEs, in rank order.
  ///
  /// Contributions may differ in length (0 to 64 KiB).
  [[nodiscard]] virtual std::vector<blob> all_gather(std::span<const std::byte> mine) = 0;
  /// @brief Collective: returns when every PE has called barrier().
  virtual void barrier() = 0;
  /// @brief Limits the time that later collective calls may block.
  ///
  /// While a process joins a world, pgas calls this function with the time that is left for joining. An implementation
  /// without a clock may keep its first limit.
  virtual void set_time_limit(std::chrono::milliseconds limit) { static_cast<void>(limit); }
  /// @brief Reports the failure of the job to the other PEs and to the launcher: calls of the other PEs throw
  /// code::aborted, or the launcher ends these PEs.
  ///
  /// The call usually returns, and it never throws. With PMIx and MPI the launcher can also end the calling process.
  ///
  /// *Callers* any thread, also while another thread is in a collective call. With MPI, the caller must be a thread
  /// that MPI allows to communicate.
  virtual void abort(std::string_view reason) noexcept = 0;

  /// @brief Collective: publishes bytes of this PE. Other PEs fetch the bytes when they need them. Each PE makes at
  /// most one call.
  ///
  /// @return false if the implementation does not support publishing. If the result is false, the library calls
  /// all_gather() instead.
  [[nodiscard]] virtual bool publish(std::span<const std::byte> mine) {
    static_cast<void>(mine);
    return false;
  }
  /// @brief Returns the bytes that a PE has published. The call is not collective.
  [[nodiscard]] virtual blob fetch(int rank) {
    static_cast<void>(rank);
    return {};
  }
  /// @brief Reports processes that have failed, according to the launcher.
  ///
  /// The implementation calls `failed` with the rank of the process and the launcher's message, on any thread, until
  /// watch() is called with an empty function or this object is destroyed. An implementation whose launcher reports
  /// nothing ignores the call.
  virtual void watch(std::function<void(int rank, std::string_view how)> failed) { static_cast<void>(failed); }
};

/// @brief The options of the built-in bootstraps. world::join() fills them from the configuration and the launcher's
/// environment; a program that makes a bootstrap fills them itself.
///
/// Empty strings and -1 mean "not given".
struct bootstrap_options {
  std::string method = "auto";                ///< name of the bootstrap: auto, pmix, tcp, local or singleton
  std::chrono::milliseconds timeout{60'000};  ///< time limit for all PEs to join
  int rank = -1;                              ///< rank of this process
  int size = -1;                              ///< the number of processes
  std::string unique_id;                      ///< printed form of pgas::unique_id, same on all PEs
  std::size_t unique_id_length = 255;         ///< maximum length of an id; a shorter id has fewer addresses
  std::string master_address;                 ///< host name or address of rank 0
  int master_port = -1;                       ///< port of rank 0
  std::string run_id;                         ///< distinguishes jobs with the same address (torchrun's run id)
  bool master_port_taken = false;  ///< the launcher uses master_port (torchrun's agent store): use the next ports
  std::string secret;              ///< shared by the PEs of a job; proves membership over TCP
  std::string interface;           ///< network interface to listen on; empty: the interface that reaches the peer
  int local_fd = -1;               ///< pgasrun's inherited socket
  bool pmix_launcher = false;      ///< the environment shows a PMIx server (mpirun, srun --mpi=pmix)
};

/// @brief A bootstrap and its description.
struct chosen_bootstrap {
  std::unique_ptr<bootstrap> exchange;  ///< never null
  std::string description;              ///< e.g. "PMIx 4.2.2 (mpirun), rank 2 of 4"
};

namespace detail {

template <>
struct [[gnu::visibility("hidden")]] members_of<bootstrap_options>
    : member_list<&bootstrap_options::method, &bootstrap_options::timeout, &bootstrap_options::rank,
                  &bootstrap_options::size, &bootstrap_options::unique_id, &bootstrap_options::unique_id_length,
                  &bootstrap_options::master_address, &bootstrap_options::master_port, &bootstrap_options::run_id,
                  &bootstrap_options::master_port_taken, &bootstrap_options::secret, &bootstrap_options::interface,
                  &bootstrap_options::local_fd, &bootstrap_options::pmix_launcher> {
  static constexpr const char* name = "bootstrap_options";
};

template <>
struct [[gnu::visibility("hidden")]] members_of<chosen_bootstrap>
    : member_list<&chosen_bootstrap::exchange, &chosen_bootstrap::description> {
  static constexpr const char* name = "chosen_bootstrap";
};

/// Implements make_bootstrap().
PGAS_API void choose_bootstrap(const given<bootstrap_options>& options, const wanted<chosen_bootstrap>& chosen);
/// Implements pgas::make_unique_id().
[[nodiscard]] PGAS_API std::string make_unique_id(const given<bootstrap_options>& options);

}  // namespace detail

/// @brief Makes the first bootstrap that is available, in this order: pgasrun's socket, a unique id, PMIx,
/// MASTER_ADDR/RANK/WORLD_SIZE, singleton.
///
/// @throws error bootstrap_unavailable if `options.method` names a bootstrap that is not available; version_mismatch if
/// `options` sets a member that the library does not have.
[[nodiscard, gnu::visibility("hidden")]] inline chosen_bootstrap make_bootstrap(const bootstrap_options& options) {
  chosen_bootstrap chosen;
  detail::choose_bootstrap(detail::give(options), detail::want(chosen));
  return chosen;
}

/// @brief Makes a unique id: an address and a secret by which processes join.
///
/// One process makes the id, and the program passes it to all processes (a file, a command line, another library). The
/// id is one printable word of at most 255 characters.
///
/// *Callers* the process that will be rank 0. This process must live until all processes have joined.
[[nodiscard, gnu::visibility("hidden")]] inline std::string make_unique_id(const bootstrap_options& options = {}) {
  return detail::make_unique_id(detail::give(options));
}

/// @brief Makes `n` bootstraps, one for each of `n` PEs that are threads of this process.
[[nodiscard]] PGAS_API std::vector<std::unique_ptr<bootstrap>> make_thread_bootstraps(
    int n, std::chrono::milliseconds timeout = std::chrono::seconds(60));

}  // namespace pgas

#include "pgas/detail/names_end.inc"
