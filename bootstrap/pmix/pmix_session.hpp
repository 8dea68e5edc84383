/// @file
/// libpmix, looked up at run time, and this process's connection through it to its PMIx server, which all worlds that
/// it makes share. A program built with one version of libpmix runs with another, or without any.
///
/// Only functions and layouts that are the same in PMIx 4 and 5 are used. The macros of pmix.h are not, apart from
/// constants: many call helper functions that one of the two versions lacks. So structs are filled in by hand.
#pragma once

#include <pmix.h>

#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "common/deadline.hpp"
#include "common/fork_guard.hpp"
#include "pgas/bootstrap.hpp"
#include "pgas/error.hpp"

namespace pgas::boot {

using namespace detail;  // of src/common

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
  std::string version;  ///< "PMIx 4.2.2"

  /// Loads the library at the first call and never unloads it: its threads and exit handlers may outlive any world.
  /// *Errors* code::bootstrap_unavailable with the loader's reason.
  [[nodiscard]] static const pmix_library& get_loaded();
};

/// *Callers* any thread.
class pmix_session {
 public:
  /// The connection, made at the first call that succeeds and kept until the process ends: servers that see one process
  /// finalize and come back have been found to mix up whose data is whose (Slurm 22.05 with PMIx 4.2).
  /// *Errors* bootstrap_unavailable where no server answers, bootstrap_protocol where its answers make no sense.
  [[nodiscard]] static pmix_session& get_connected(const deadline& limit);
  ~pmix_session();
  pmix_session(const pmix_session&) = delete;
  pmix_session& operator=(const pmix_session&) = delete;

  [[nodiscard]] int rank() const { return static_cast<int>(self_.rank); }
  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] const std::string& version() const { return library_.version; }

  /// Collective: publishes `mine` under `key`, which must be new, and returns what every rank published under it.
  [[nodiscard]] std::vector<blob> exchange(const std::string& key, std::span<const std::byte> mine,
                                           const deadline& limit);
  /// Asks the server to end the job.
  void abort(const std::string& reason) const;

 private:
  pmix_session(const pmix_library& library, const deadline& limit);
  void finalize() noexcept;
  [[nodiscard]] int ask_job_size() const;
  void publish(const std::string& key, std::span<const std::byte> mine) const;
  void fence(const std::string& key, const deadline& limit) const;
  [[nodiscard]] std::optional<blob> look_up(int rank, const std::string& key, bool ask_server) const;
  /// Ranks that are not known to have published. The server of this host knows the publications of its own processes;
  /// of other hosts it knows nothing before the end of the fence.
  [[nodiscard]] std::vector<int> missing(const std::string& key) const;
  /// Ranks of this host with processes that have ended, as reported by the server.
  [[nodiscard]] std::vector<int> ended_here() const;
  /// Throws peer_lost where one of them has not published.
  void check_ended(const std::string& key) const;
  [[nodiscard]] error timed_out(const std::string& key) const;
  [[nodiscard]] error given_up(const std::string& key, pmix_status_t status) const;
  [[nodiscard]] error failed(code why, std::string_view what, pmix_status_t status) const;

  const detail::fork_guard process_;
  const pmix_library& library_;
  pmix_proc_t self_{};
  int size_ = 0;
  std::timed_mutex
      fencing_;  // fences of one process must not overlap: the server distinguishes them by their participants
  /// One call into the library at a time: PMIx 5.0.1 has been seen to crash when threads look things up at once. None
  /// of the calls under it waits for other processes.
  mutable std::mutex calls_;
  mutable std::atomic<bool> tells_ends_{true};  ///< false after the server has refused to report ended processes
};

}  // namespace pgas::boot
