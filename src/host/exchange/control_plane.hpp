/// @file
/// The control plane of a world: a tree of PEs. The first PE of a host is the leader of the host. The other PEs of the
/// host are connected to the leader by UNIX sockets. Leaders are connected to one another by TCP. A thread of each PE
/// reads from the neighbours and passes on the messages of other PEs. The tree carries small exchanges, barriers of the
/// host side, and reports that a PE has died, aborted or left. Exchanges inside a host also carry descriptors of shared
/// memory. A failure reaches the kernels of a PE through the abort word.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/exchange/control_group.hpp"
#include "host/failure/question_service.hpp"
#include "host/failure/tree_reader.hpp"
#include "host/log/logger.hpp"
#include "pgas/bootstrap.hpp"
#include "pgas/config.hpp"
#include "pgas/error.hpp"

namespace pgas::detail {

struct control_plane_parts;

/// Connections to the neighbours of this PE in the tree, and the group of all PEs. *Callers* for collectives, one
/// thread at a time; for fail(), check() and failed(), any thread.
class control_plane final : public control_group {
 public:
  /// Called once, on any thread, when the world fails, after this PE has sent the failure to its neighbours. The
  /// argument is the error to throw. The pe() of the error is -1 if the error concerns no PE.
  using failure_callback = std::function<void(const error&)>;

  /// Collective over the bootstrap: exchanges addresses and a secret, connects the PEs, and checks the user and the
  /// secret at both ends. Afterwards, a neighbour on another host that is silent for PGAS_HEARTBEAT_TIMEOUT counts as
  /// lost. `log` must outlive the object. `exchange` is not used after the constructor. *Errors* peer_unreachable if no
  /// address of another host answers; authentication; version_mismatch; config_value; bootstrap_timeout with the PEs
  /// that did not connect.
  control_plane(bootstrap& exchange, const config& settings, log::logger& log, failure_callback on_failure);
  /// Leaves without waiting. If this PE has not called leave(), it counts as lost for the other PEs.
  ~control_plane() override;

  /// Ends the joining of this PE. Collectives before this call wait for at most PGAS_JOIN_TIMEOUT, regardless of
  /// PGAS_WAIT_TIMEOUT. Their error is bootstrap_timeout with the missing PEs.
  void joined() noexcept;
  /// Sets the functions that answer questions about this PE. The control plane's thread calls the functions until this
  /// object is destroyed.
  void set_wait_source(wait_source source);
  /// Collective, before leave(): returns when all PEs have called await_leave(). If a PE makes another collective call
  /// instead, all PEs throw asymmetric_call. If PGAS_WAIT_TIMEOUT is set, later collectives have a time limit that is
  /// longer by PGAS_JOIN_TIMEOUT, because other PEs first complete the work on their streams. *Errors* asymmetric_call.
  void await_leave();
  /// Collective, the last call. After the call, the end of another PE is not a failure.
  void leave();

  /// Ends the world on all PEs. Collectives and waits of all PEs throw code::aborted with this reason, or code::system
  /// if the reason could not be allocated. This PE logs the reason at `level`.
  void fail(std::string_view reason, log_level level = log_level::error) noexcept;
  /// Ends the world on all PEs with the given error.
  void fail(const error& cause) noexcept;
  /// Ends the world because the launcher reports that a PE has failed. Has no effect if the PE has left. *Callers* any
  /// thread.
  void on_launcher_report(int pe, std::string_view how);
  /// Throws the first failure, if the world has failed.
  void check() const;
  /// A PE of this host whose process is stopped, for example by a debugger or by SIGSTOP; -1 if no such PE is found.
  [[nodiscard]] int stopped_pe() const;
  [[nodiscard]] bool failed() const noexcept;
  /// *Callers* any thread.
  [[nodiscard]] control_statistics statistics() const;
  /// The names of the network interfaces of the connections to other hosts. Empty if this PE is not a leader.
  [[nodiscard]] std::vector<std::string> interfaces() const;

 private:
  explicit control_plane(std::shared_ptr<control_plane_parts> parts);
  std::shared_ptr<control_plane_parts> parts_;
};

}  // namespace pgas::detail
