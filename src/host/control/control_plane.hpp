/// @file
/// The control plane of a world: a tree of PEs. The first PE of a host is its leader, to which the others are connected
/// by UNIX sockets; leaders are connected by TCP. A thread of each PE reads from its neighbours, and passes messages of
/// other PEs on. The tree carries small exchanges (inside a host with descriptors, for sharing memory), barriers of the
/// host side, and the news that a PE has died, aborted or left. A failure reaches the kernels of a PE through the abort
/// word.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/control/control_group.hpp"
#include "host/control/question_service.hpp"
#include "host/log/logger.hpp"
#include "pgas/bootstrap.hpp"
#include "pgas/config.hpp"
#include "pgas/error.hpp"

namespace pgas::detail {

/// What the control plane has counted.
struct control_statistics {
  std::uint64_t heartbeats_sent = 0;
  std::uint64_t heartbeats_received = 0;
  /// By PE, of neighbours in the tree on other hosts: since the last message from it.
  std::vector<std::optional<std::chrono::milliseconds>> silence;
};

/// Connections to the neighbours of this PE in the tree, and the group of all PEs. *Callers* collectives: one thread at
/// a time; fail(), check() and failed(): any thread.
class control_plane final : public control_group {
 public:
  /// Called once, from any thread, when the world fails, with the error to throw and its PE (-1 if none).
  using failure_callback = std::function<void(const error&)>;

  /// Collective over the bootstrap: exchanges addresses and a secret, connects, checks user and secret at both ends. A
  /// neighbour on another host that is silent for PGAS_HEARTBEAT_TIMEOUT counts as lost afterwards. *Errors*
  /// peer_unreachable (no address of another host answers), authentication, version_mismatch, config_value,
  /// bootstrap_timeout naming the PEs that did not connect. Keeps `log`; `exchange` is not used afterwards.
  control_plane(bootstrap& exchange, const config& settings, log::logger& log, failure_callback on_failure);
  /// Leaves without waiting; a PE that has not called leave() counts as lost for the others.
  ~control_plane() override;

  /// Until this is called, no collective waits for longer than PGAS_JOIN_TIMEOUT, whatever PGAS_WAIT_TIMEOUT is; the
  /// error is bootstrap_timeout, naming the missing PEs.
  void joined() noexcept;
  /// Sets what this PE answers when somebody asks what it waits for. The control plane's thread calls the functions,
  /// until this object ends.
  void set_wait_source(wait_source source);
  /// Collective, before leave(): returns when all PEs have called this. A PE that makes another collective call
  /// then is an error for all. Where PGAS_WAIT_TIMEOUT is set, later collectives wait for PGAS_JOIN_TIMEOUT longer: a
  /// PE comes to them when its streams are done. *Errors* asymmetric_call.
  void await_leave();
  /// Collective, the last call: after it, the departure of the others is no failure.
  void leave();

  /// Ends the world for everyone: all PEs' collectives and waits throw code::aborted with this reason; code::system
  /// where there is no memory for it. Logged here at `level`.
  void fail(std::string_view reason, log_level level = log_level::error) noexcept;
  /// The same with a given error.
  void fail(const error& cause) noexcept;
  /// Throws the first failure, if there was one.
  void check() const;
  /// A PE of this host whose process is stopped, as by a debugger or SIGSTOP; -1 if none is seen to be.
  [[nodiscard]] int stopped_pe() const;
  [[nodiscard]] bool failed() const noexcept;
  /// *Callers* any thread.
  [[nodiscard]] control_statistics statistics() const;
  /// Names of the network interfaces over which this PE talks to other hosts; none where it is no leader.
  [[nodiscard]] std::vector<std::string> interfaces() const;

 private:
  explicit control_plane(std::shared_ptr<control_plane_state> state);
  std::shared_ptr<control_plane_state> state_;
};

/// Removes files of killed processes of this user: sockets in `directory`, where one is given, without a listener, and
/// files of UCX in /dev/shm that no process has open. Failures are ignored.
void remove_stale_files(const std::string& directory) noexcept;

}  // namespace pgas::detail
