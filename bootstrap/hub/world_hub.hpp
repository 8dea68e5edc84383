/// @file
/// The hub of one world. The hub gathers a contribution from each member, sends the result to all members, and reports
/// the first failure to all members. The hub runs in rank 0 over TCP, and in pgasrun for the processes that pgasrun has
/// started.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bootstrap/hub/hub_protocol.hpp"
#include "common/net/event_loop.hpp"
#include "common/unique_fd.hpp"

namespace pgas::boot {

using namespace detail;  // namespace of src/common

/// The hub's side of one member.
struct member {
  enum class state { absent, present, left, lost };

  unique_fd socket;
  state where = state::absent;
  bool arrived = false;  ///< the contribution to the current collective has arrived
  blob contribution;
  frame_reader<frame_header> incoming{max_contribution};
  std::optional<frame_cipher> seal;  ///< seals frames to this member, if frames are sealed
  std::deque<shared_frame> outgoing;
  std::size_t sent = 0;  ///< the sent bytes of outgoing.front()
};

/// *Callers* the thread that runs the loop.
class world_hub {
 public:
  world_hub(event_loop& loop, int size);
  ~world_hub();
  world_hub(const world_hub&) = delete;
  world_hub& operator=(const world_hub&) = delete;

  /// Takes a connected, non-blocking stream socket for `rank`. Closes the socket if the rank already has a socket.
  /// @param keys the keys that seal messages over the socket; empty if messages are not sealed
  void attach(int rank, unique_fd socket, const std::optional<session_keys>& keys = std::nullopt);
  [[nodiscard]] bool has_come(int rank) const {
    return members_[static_cast<std::size_t>(rank)].where != member::state::absent;
  }
  /// Called when a member's process has ended. Reads the last frames of the member first. Breaks the world unless the
  /// member had left the world or aborted it.
  void ended(int rank, std::string_view how);
  /// Breaks the world: current and later calls of all members throw this error. Only the first failure is used.
  void fail(code why, int pe, std::string text);
  /// A remark for the message of a timeout, for example about refused connections.
  void remark(std::string text) { remark_ = std::move(text); }
  /// Called once, when a member aborts the job.
  void on_abort(std::function<void(int rank, std::string_view reason)> call) { on_abort_ = std::move(call); }

  /// Sets a function that returns the reason if a member's connection ends although the member has not left.
  void on_silence(std::function<std::string(int rank)> call) { on_silence_ = std::move(call); }

  /// The time at which the current collective must be complete. The caller calls expire() at this time.
  [[nodiscard]] std::optional<clock::time_point> due() const { return due_; }
  void expire();

  /// Whether all frames were sent.
  [[nodiscard]] bool drained() const;
  /// Whether all members have arrived.
  [[nodiscard]] bool complete() const;
  /// Whether all members have arrived and left.
  [[nodiscard]] bool over() const { return gone_ == size(); }
  [[nodiscard]] int size() const { return static_cast<int>(members_.size()); }

 private:
  void lost(int rank, std::string_view how);
  void react(int rank, short revents);
  void receive(int rank);
  void contribute(int rank);
  void answer();
  /// Sends nothing to a member without a connection.
  void send(int rank, shared_frame frame);
  /// Rank 0 is the last receiver: over TCP the hub is a thread of rank 0, which may end its process when it has
  /// received a failure.
  void send_to_all(const shared_frame& frame);
  void flush(int rank);
  void close(int rank, bool left);
  [[nodiscard]] member& at(int rank) { return members_[static_cast<std::size_t>(rank)]; }

  event_loop& loop_;
  std::vector<member> members_;
  int arrived_ = 0;  // the number of contributions to the current collective
  int gone_ = 0;     // the number of members that have left or were lost
  std::uint32_t sequence_ = 0;
  collective what_{};
  clock::time_point began_;
  std::optional<clock::time_point> due_;
  shared_frame failure_;
  std::string remark_;
  std::function<void(int, std::string_view)> on_abort_;
  std::function<std::string(int)> on_silence_;
};

}  // namespace pgas::boot
