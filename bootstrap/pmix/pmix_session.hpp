/// @file
/// This process's connection to its PMIx server, shared by all worlds that it makes.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "bootstrap/pmix/pmix_library.hpp"
#include "common/deadline.hpp"
#include "common/fork_guard.hpp"
#include "pgas/bootstrap.hpp"
#include "pgas/error.hpp"

namespace pgas::boot {

using namespace detail;  // of src/common

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
  [[nodiscard]] error timed_out(const std::string& key) const;
  [[nodiscard]] error given_up(const std::string& key, pmix_status_t status) const;
  [[nodiscard]] error failed(code why, std::string_view what, pmix_status_t status) const;

  const detail::fork_guard process_;
  const pmix_library& library_;
  pmix_proc_t self_{};
  int size_ = 0;
  std::timed_mutex fencing_;  // fences of one process must not overlap: the server tells them apart by who takes part
  /// One call into the library at a time: PMIx 5.0.1 has been seen to crash when threads look things up at once. None
  /// of the calls under it waits for other processes.
  mutable std::mutex calls_;
};

}  // namespace pgas::boot
