/// @file
/// The control plane of a world: one UNIX socket between every two PEs of a host, with a thread that listens to all of
/// them. It carries small all-gathers (with descriptors, for sharing memory), barriers of the host side, and the news
/// that a PE has died, aborted or left. What one PE learns here reaches its kernels through the abort word.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "device/unique_fd.hpp"
#include "host/log/log.hpp"
#include "pgas/bootstrap.hpp"
#include "pgas/config.hpp"
#include "pgas/error.hpp"

namespace pgas::detail {

/// Who is at the other end.
struct peer_info {
  std::string host;
  int pid = 0;
  int local_rank = 0;  ///< among the PEs of its host, in PE order
};

/// One PE's contribution to an all-gather.
struct contribution {
  blob bytes;
  std::vector<unique_fd> fds;
  bool fds_lost =
      false;  ///< they were sent, but this process may open no more files; those that came were closed again
};

/// Sockets to all other PEs. *Callers* collectives: one thread at a time; fail(), check() and failed(): any thread.
class links {
 public:
  /// Told once, from any thread, when the world can't go on: the PE at fault (-1 if none) and the error to throw.
  using failure_callback = std::function<void(const error&)>;

  /// Collective over the bootstrap: exchanges addresses and a secret, connects, checks user and secret at both ends.
  /// *Errors* peer_unreachable (other host, or a container that shares neither network namespace nor PGAS_SOCKET_DIR),
  /// authentication, version_mismatch, bootstrap_timeout naming the PEs that did not connect.
  /// Keeps `log`; `exchange` is not used afterwards.
  links(bootstrap& exchange, const config& settings, log::logger& log, failure_callback on_failure);
  /// Leaves without waiting for anyone; a PE that goes without leave() counts as lost for the others.
  ~links();

  [[nodiscard]] int my_pe() const noexcept;
  [[nodiscard]] int n_pes() const noexcept;
  [[nodiscard]] const peer_info& peer(int pe) const;

  /// Collective: everyone's bytes (0 to 64 KiB, lengths may differ) and duplicates of everyone's descriptors, by PE.
  /// The caller's own entry holds its bytes and no descriptors. *Errors* peer_lost, aborted; wait_timeout naming who is
  /// missing when PGAS_WAIT_TIMEOUT is set; asymmetric_call when another PE calls barrier() or leave() instead;
  /// invalid_argument before anything is sent.
  [[nodiscard]] std::vector<contribution> all_gather(std::span<const std::byte> mine, std::span<const int> fds = {});
  /// Collective: returns when every PE has called it.
  void barrier();
  /// Collective, the last call: after it, the departure of the others is no failure.
  void leave();

  /// Ends the world for everyone: all PEs' collectives and waits throw code::aborted with this reason.
  void fail(const std::string& reason) noexcept;
  /// Throws the first failure, if there was one.
  void check() const;
  [[nodiscard]] bool failed() const noexcept;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace pgas::detail
