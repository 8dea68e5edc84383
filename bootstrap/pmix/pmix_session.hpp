/// @file
/// libpmix, looked up at run time, and this process's connection to its PMIx server, which all worlds of the process
/// share. A program built with one version of libpmix runs with another version, or without libpmix.
///
/// This code uses only functions and layouts that are the same in PMIx 4 and 5. This code uses the constants of pmix.h,
/// but fills in structs without its macros, because many macros call helper functions that one of the two versions does
/// not have.
#pragma once

#include <pmix.h>

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "common/deadline.hpp"
#include "common/fork_guard.hpp"
#include "pgas/bootstrap.hpp"
#include "pgas/error.hpp"

namespace pgas::boot {

using namespace detail;  // namespace of src/common

/// The functions of the library.
struct pmix_library {
  decltype(&PMIx_Init) init;
  decltype(&PMIx_Finalize) finalize;
  decltype(&PMIx_Put) put;
  decltype(&PMIx_Commit) commit;
  decltype(&PMIx_Fence_nb) fence_nb;
  decltype(&PMIx_Get) get;
  decltype(&PMIx_Abort) abort;
  decltype(&PMIx_Error_string) error_string;
  decltype(&PMIx_Query_info_nb) query;
  decltype(&PMIx_Register_event_handler) register_event_handler;
  std::string version;  ///< "PMIx 4.2.2"

  /// Loads the library at the first call and never unloads it, because its threads and exit handlers may outlive any
  /// world. *Errors* code::bootstrap_unavailable with the loader's reason.
  [[nodiscard]] static const pmix_library& get_loaded();
};

/// *Callers* any thread.
class pmix_session {
 public:
  /// The connection. It is made at the first call that succeeds, and is kept until the process ends: some servers mix
  /// up the data of processes if a process finalizes and connects again (Slurm 22.05 with PMIx 4.2). *Errors*
  /// bootstrap_unavailable if no server answers, bootstrap_protocol if its answers are invalid.
  [[nodiscard]] static pmix_session& get_connected(const deadline& limit);
  ~pmix_session();
  pmix_session(const pmix_session&) = delete;
  pmix_session& operator=(const pmix_session&) = delete;

  [[nodiscard]] int rank() const { return static_cast<int>(self_.rank); }
  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] const std::string& version() const { return library_.version; }

  /// Publishes `mine` under `key`, which must be new, and returns the values that all ranks published under `key`.
  /// Collective.
  [[nodiscard]] std::vector<blob> exchange(const std::string& key, std::span<const std::byte> mine,
                                           const deadline& limit);
  /// Publishes `mine` under `key`, which must be new. Collective. Afterwards fetch() finds the values of all ranks.
  void publish_to_all(const std::string& key, std::span<const std::byte> mine, const deadline& limit);
  /// The value that a rank has published under `key`. Not collective. *Errors* bootstrap_timeout, peer_lost.
  [[nodiscard]] blob fetch(int rank, const std::string& key, const deadline& limit) const;

  /// Called with a rank of this job and the server's description of the failure.
  using failure_listener = std::function<void(int rank, std::string_view how)>;
  /// Calls `listener`, on a thread of the library, for each process of the job that the server reports as failed. When
  /// a call with an empty listener returns, no earlier listener of `world` is running.
  void listen(unsigned world, failure_listener listener);
  /// Passes an event of the server on to the listeners. *Callers* the library's thread.
  void on_event(pmix_status_t status, const pmix_proc_t* source, const pmix_info_t* details, std::size_t count);
  /// Asks the server to end the job.
  void abort(const std::string& reason) const;

 private:
  pmix_session(const pmix_library& library, const deadline& limit);
  void finalize() noexcept;
  [[nodiscard]] int ask_job_size() const;
  void publish(const std::string& key, std::span<const std::byte> mine) const;
  void fence(const std::string& key, const deadline& limit) const;
  [[nodiscard]] std::optional<blob> look_up(int rank, const std::string& key, bool ask_server) const;
  /// The ranks whose values under `key` the server does not know. Before the fence ends, the server knows only the
  /// values that processes of its own host have published.
  [[nodiscard]] std::vector<int> missing(const std::string& key) const;
  /// The ranks of this host whose processes have ended, according to the server.
  [[nodiscard]] std::vector<int> ended_here() const;
  /// Throws peer_lost if a process has ended without publishing its value.
  void check_ended(const std::string& key) const;
  [[nodiscard]] error timed_out(const std::string& key) const;
  [[nodiscard]] error given_up(const std::string& key, pmix_status_t status) const;
  [[nodiscard]] error failed(code why, std::string_view what, pmix_status_t status) const;

  const detail::fork_guard process_;
  const pmix_library& library_;
  pmix_proc_t self_{};
  int size_ = 0;
  // A fence holds this lock. Fences of one process must not overlap, because the server distinguishes fences only by
  // their participants.
  std::timed_mutex fencing_;
  /// A call into the library holds this lock: PMIx 5.0.1 crashes if threads look up values at the same time. No call
  /// under this lock waits for other processes.
  mutable std::mutex calls_;
  mutable std::atomic<bool> tells_ends_{true};  ///< false after the server has refused to report ended processes

  std::mutex listening_;  ///< the thread that calls the listeners holds this lock
  std::map<unsigned, failure_listener> listeners_;
  bool registered_ = false;  ///< the server has been asked for events
};

}  // namespace pgas::boot
