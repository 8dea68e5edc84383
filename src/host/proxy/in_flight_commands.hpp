/// @file
/// The commands of one ring that have been taken and are not complete, and the order among them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/trace/recorder.hpp"
#include "host/proxy/grow_only_queue.hpp"
#include "host/proxy/ring.hpp"
#include "pgas/detail/proxy_ring.hpp"

namespace pgas::detail {

class in_flight_commands;

/// The operation that a command carries out.
[[nodiscard]] const char* what_of(const command& cmd);
/// Its data bytes: atomic operations and signals alone have none.
[[nodiscard]] inline std::uint64_t bytes_of(const command& cmd) {
  const bool has_data = cmd.kind != command_kind::signal && cmd.kind != command_kind::atomic;
  return has_data ? cmd.bytes : 0;
}

/// A command for whose answer a producer waits.
struct awaited_command {
  command cmd{};
  std::vector<int> pes;  ///< that it waits for
  std::chrono::steady_clock::time_point since;
};

/// The state of one command, from its start until it is complete. `owner` owns it, and is told of each part of its data
/// that is issued or done; `block` and `at` are for the initiator, which issues them.
struct proxy_op {
  /// The state of the signal: there is no separate signal, it waits for earlier data, or it is in flight.
  enum class signal_state : std::uint8_t { none, deferred, sent };

  command cmd{};
  in_flight_commands* owner = nullptr;
  std::uint64_t number = 0;       ///< in the ring
  std::uint64_t block = 0;        ///< the first that has not been issued as a whole
  std::uint64_t at = 0;           ///< issued bytes of it
  std::uint32_t parts = 0;        ///< issued parts of the data whose arrival is not known
  std::uint32_t local_parts = 0;  ///< of these, the parts whose transfer still reads or writes `local`
  bool issued = false;            ///< all data
  bool unordered = false;         ///< the data does not arrive in the order of messages
  bool data_done = false;         ///< the data has taken effect
  bool complete = false;
  bool answered = false;
  signal_state signal = signal_state::none;
  std::chrono::steady_clock::time_point since;  ///< its start, if it has an answer or is recorded

  [[nodiscard]] bool fetches() const noexcept {
    return cmd.kind == command_kind::get || cmd.kind == command_kind::get_strided;
  }
  [[nodiscard]] bool has_signal() const noexcept {
    return cmd.kind == command_kind::put_signal || cmd.kind == command_kind::put_value_signal ||
           cmd.kind == command_kind::signal;
  }
};

/// The rules of order that proxy_ring.hpp states, for operations in messages and for `unordered` ones:
///
/// * Message operations to one PE take effect in the order in which they are appended. Bulk operations, gets and
///   deferred signals are `unordered`: they do not.
/// * After a fence, message operations wait until nothing unordered is in flight to that PE; unordered operations wait
///   until nothing is.
/// * A signal is sent when all earlier data, its own included, is complete or in messages to the same PE. Other signals
///   are deferred, in the order of the ring; only operations behind a fence wait for them.
class in_flight_commands {
 public:
  static constexpr std::size_t window = 2048;  ///< commands in flight at once

  /// @param events as proxy_settings::events
  in_flight_commands(ring& source, int n, trace::recorder* events = nullptr);

  /// Null after retire().
  [[nodiscard]] ring* source() const noexcept { return source_; }
  /// Whether the next command of the ring can't be taken before an earlier one completes. Kept by the initiator.
  [[nodiscard]] bool blocked() const noexcept { return blocked_; }
  void set_blocked(bool blocked) noexcept { blocked_ = blocked; }
  /// Uses the ring no longer.
  void retire() noexcept {
    source_ = nullptr;
    answers_.clear();
  }

  [[nodiscard]] bool full() const noexcept { return started_ - completed_ == window; }
  [[nodiscard]] bool empty() const noexcept { return started_ == completed_; }

  // ---- the life of a command

  /// Whether an operation to `pe` may be issued now, as to fences before it.
  [[nodiscard]] bool is_ordered(int pe, bool unordered) noexcept;
  /// Whether a signal that starts now may be sent at once, in a message to `pe`.
  [[nodiscard]] bool may_send_signal(int pe) const noexcept;
  /// Starts the next command; any data of it counts as in flight.
  proxy_op& start(const command& cmd, bool unordered);
  /// Orders later commands to `pe` behind earlier ones.
  void fence(int pe) noexcept;
  /// Whether there was a fence since the last call. Atomic operations of one message may be executed concurrently
  /// unless a fence is between them.
  [[nodiscard]] bool take_fence(int pe) noexcept;
  /// The signal of `op` is sent when all before it is complete.
  void defer_signal(proxy_op& op);
  /// The first deferred signal, if it may be sent now.
  [[nodiscard]] proxy_op* ready_signal() noexcept;
  /// ready_signal() has been sent.
  void signal_sent() noexcept;
  /// A part of the data is in flight until part_done().
  void part_issued(proxy_op& op) noexcept { ++op.parts; }
  /// The same for a part whose transfer reads or writes `local` until local_part_done().
  void local_part_issued(proxy_op& op) noexcept {
    ++op.parts;
    ++op.local_parts;
  }
  /// All data has been handed to messages or the transport.
  void all_issued(proxy_op& op);
  void part_done(proxy_op& op);
  void local_part_done(proxy_op& op);
  /// The signal of `op`, which has no data, is in a message.
  void signal_issued(proxy_op& op) noexcept { op.signal = proxy_op::signal_state::sent; }
  /// The operation has taken effect as a whole.
  void complete(proxy_op& op) noexcept;
  /// Starts a quiet, answered when all before it is complete.
  void quiet(proxy_op& op);
  /// Whether a producer has begun to wait, since the last call, for commands to any PE.
  [[nodiscard]] bool take_wait() noexcept;
  [[nodiscard]] bool has_in_flight(int pe) const noexcept { return order_to(pe).incomplete > 0; }

  /// Adds the commands that are to be answered and are not, the oldest first, until `found` has `most`.
  void add_awaited(std::vector<awaited_command>& found, std::size_t most) const;

  /// Publishes to the producers: answers, the counts of taken and completed commands. Returns whether there was any
  /// news. Called after messages have been sent: producers poll these words, so that each store costs a miss, and on
  /// x86 later stores wait for it.
  bool publish();

 private:
  /// The fence in force to one PE.
  enum class fence_state : std::uint8_t { none, for_unordered, for_all };
  struct order {
    std::uint32_t incomplete = 0;
    std::uint32_t data = 0;       ///< commands with data in flight
    std::uint32_t unordered = 0;  ///< of the incomplete, with deferred signals
    fence_state fence = fence_state::none;
    bool fenced = false;  ///< by a fence that take_fence() has not reported
  };
  struct pending_answer {
    std::uint32_t cell;
    std::uint64_t low;
    std::uint64_t high;
  };

  [[nodiscard]] proxy_op& at(std::uint64_t number) noexcept { return ops_[number % window]; }
  [[nodiscard]] const proxy_op& at(std::uint64_t number) const noexcept { return ops_[number % window]; }
  [[nodiscard]] order& order_of(const proxy_op& op) noexcept { return orders_[static_cast<std::size_t>(op.cmd.pe)]; }
  [[nodiscard]] const order& order_to(int pe) const noexcept { return orders_[static_cast<std::size_t>(pe)]; }
  void answer_reusable(proxy_op& op);
  void data_done(proxy_op& op);
  void answer(proxy_op& op, std::uint64_t low, std::uint64_t high);
  void record(const proxy_op& op) const noexcept;

  ring* source_;
  trace::recorder* const events_;
  std::vector<proxy_op> ops_;
  std::vector<order> orders_;  ///< by PE
  std::uint64_t started_ = 0;
  std::uint64_t completed_ = 0;          ///< from the first without a gap
  std::uint64_t data_ = 0;               ///< commands with data in flight, to all PEs
  std::uint64_t first_data_ = 0;         ///< no earlier command has data in flight
  std::uint64_t scanned_ = 0;            ///< no earlier command delays the first deferred signal
  grow_only_queue<proxy_op*> deferred_;  ///< signals
  std::vector<proxy_op*> pe_quiets_;     ///< that wait for one PE
  std::vector<pending_answer> answers_;
  std::uint64_t pending_quiets_ = 0;
  bool waits_ = false;  ///< since the last take_wait()
  bool changed_ = false;
  bool blocked_ = false;
};

}  // namespace pgas::detail
