/// @file
/// The commands of one ring that are in flight: they were taken from the ring and are not complete. Also implements
/// their order.
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

/// The name of the operation that a command executes.
[[nodiscard]] const char* operation_name(const command& cmd);
/// The number of data bytes of a command. It is 0 for atomic operations and for signals without data.
[[nodiscard]] inline std::uint64_t bytes_of(const command& cmd) {
  const bool has_data = cmd.kind != command_kind::signal && cmd.kind != command_kind::atomic;
  return has_data ? cmd.bytes : 0;
}

/// Whether a command copies from the other PE to an address of this PE.
[[nodiscard]] inline bool fetches_to_memory(const command& cmd) {
  return cmd.kind == command_kind::get || cmd.kind == command_kind::get_strided || cmd.kind == command_kind::get_list;
}

/// A command whose answer a producer waits for.
struct awaited_command {
  command cmd{};
  std::vector<int> pes;  ///< the PEs whose replies the command needs
  std::chrono::steady_clock::time_point since;
};

/// The state of one command, from its start until it is complete. `owner` owns the object, and counts the issued and
/// the completed parts of the data. The initiator issues the parts, and uses `block` and `at`.
struct proxy_op {
  /// The state of the signal: the command has no separate signal, the signal waits for earlier data, or it is in
  /// flight.
  enum class signal_state : std::uint8_t { none, deferred, sent };

  command cmd{};
  in_flight_commands* owner = nullptr;
  std::vector<listed_block> list;  ///< the blocks of a put_list or a get_list
  std::uint64_t number = 0;        ///< the command's number in the ring
  std::uint64_t block = 0;         ///< the first block that has not been issued completely
  std::uint64_t at = 0;            ///< the issued bytes of that block
  std::uint32_t parts = 0;         ///< the issued parts of the data that have not arrived yet
  std::uint32_t local_parts = 0;   ///< the parts whose transfer still reads or writes `local`
  bool issued = false;             ///< all data is issued
  bool unordered = false;          ///< the data does not arrive in the order of messages
  bool data_done = false;          ///< the data has taken effect
  bool complete = false;
  bool answered = false;
  signal_state signal = signal_state::none;
  /// The start time of the command; set if the command has an answer or is recorded.
  std::chrono::steady_clock::time_point since;

  [[nodiscard]] bool fetches() const noexcept { return fetches_to_memory(cmd); }
  [[nodiscard]] bool has_signal() const noexcept {
    return cmd.kind == command_kind::put_signal || cmd.kind == command_kind::put_value_signal ||
           cmd.kind == command_kind::signal;
  }
};

/// Implements the order that proxy_ring.hpp defines, for operations in messages and for `unordered` operations:
///
/// * Message operations to one PE take effect in the order in which they are appended. Bulk operations, gets and
///   deferred signals are `unordered` and have no such order.
/// * After a fence, message operations wait until no unordered operation is in flight to that PE. Unordered operations
///   wait until no operation is in flight to that PE.
/// * A signal is sent when all earlier data, including its own data, is complete or in messages to the same PE. Other
///   signals are deferred, in the order of the ring. Only operations after a fence wait for deferred signals.
class in_flight_commands {
 public:
  static constexpr std::size_t window = 2048;  ///< commands in flight at the same time

  /// @param events as in proxy_settings::events
  in_flight_commands(ring& source, int n, trace::recorder* events = nullptr);

  /// The ring; null after retire().
  [[nodiscard]] ring* source() const noexcept { return source_; }
  /// Whether the next command of the ring has to wait until an earlier command completes. The initiator keeps the flag
  /// up to date.
  [[nodiscard]] bool blocked() const noexcept { return blocked_; }
  void set_blocked(bool blocked) noexcept { blocked_ = blocked; }
  /// Stops the use of the ring.
  void retire() noexcept {
    source_ = nullptr;
    answers_.clear();
  }

  [[nodiscard]] bool full() const noexcept { return started_ - completed_ == window; }
  [[nodiscard]] bool empty() const noexcept { return started_ == completed_; }

  // ---- the life of a command

  /// Whether the fences before an operation to `pe` allow it to be issued now.
  [[nodiscard]] bool is_ordered(int pe, bool unordered) noexcept;
  /// Whether a signal that starts now may be sent immediately in a message to `pe`.
  [[nodiscard]] bool may_send_signal(int pe) const noexcept;
  /// Starts the next command. If it has data, the data counts as in flight.
  proxy_op& start(const command& cmd, bool unordered);
  /// Orders later commands to `pe` after earlier commands to `pe`.
  void fence(int pe) noexcept;
  /// Whether a fence was called after the last call of this function. Atomic operations of one message may be executed
  /// concurrently unless a fence separates them.
  [[nodiscard]] bool take_fence(int pe) noexcept;
  /// Defers the signal of `op` until all earlier operations are complete.
  void defer_signal(proxy_op& op);
  /// The first deferred signal, if it may be sent now.
  [[nodiscard]] proxy_op* ready_signal() noexcept;
  /// Called after the signal of ready_signal() has been sent.
  void signal_sent() noexcept;
  /// Counts a part of the data as in flight until part_done().
  void part_issued(proxy_op& op) noexcept { ++op.parts; }
  /// As part_issued(), for a part whose transfer reads or writes `local` until local_part_done().
  void local_part_issued(proxy_op& op) noexcept {
    ++op.parts;
    ++op.local_parts;
  }
  /// Called when the array of a put_list or a get_list has been read.
  void list_read(proxy_op& op) { answer(op, 0, 0); }
  /// Called when all data is in messages or with the transport.
  void all_issued(proxy_op& op);
  void part_done(proxy_op& op);
  void local_part_done(proxy_op& op);
  /// Called when a signal without data is in a message.
  void signal_issued(proxy_op& op) noexcept { op.signal = proxy_op::signal_state::sent; }
  /// Called when the whole operation has taken effect.
  void complete(proxy_op& op) noexcept;
  /// Starts a quiet. The producer gets the answer when all earlier commands are complete.
  void quiet(proxy_op& op);
  /// Whether a producer has begun, since the last call, to wait for commands to any PE.
  [[nodiscard]] bool take_wait() noexcept;
  [[nodiscard]] bool has_in_flight(int pe) const noexcept { return order_to(pe).incomplete > 0; }

  /// Appends the unanswered commands that need an answer, the oldest first, until `found` has `most` entries.
  void add_awaited(std::vector<awaited_command>& found, std::size_t most) const;

  /// Publishes answers and the counts of taken and completed commands to the producers. Returns whether any value has
  /// changed. Called after messages have been sent, because producers poll these words: each store costs a cache miss,
  /// and on x86 later stores wait for it.
  bool publish();

 private:
  /// The fence that applies to operations on one PE.
  enum class fence_state : std::uint8_t { none, for_unordered, for_all };
  struct order {
    std::uint32_t incomplete = 0;
    std::uint32_t data = 0;       ///< the number of commands with data in flight
    std::uint32_t unordered = 0;  ///< the number of incomplete unordered commands, including deferred signals
    fence_state fence = fence_state::none;
    bool fenced = false;  ///< set by a fence that take_fence() has not reported
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
  std::vector<order> orders_;  ///< the order of each PE's commands, indexed by PE
  std::uint64_t started_ = 0;
  std::uint64_t completed_ = 0;          ///< all commands before this number are complete
  std::uint64_t data_ = 0;               ///< the number of commands with data in flight, to all PEs
  std::uint64_t first_data_ = 0;         ///< no command before this number has data in flight
  std::uint64_t scanned_ = 0;            ///< no command before this number delays the first deferred signal
  grow_only_queue<proxy_op*> deferred_;  ///< operations whose signals are deferred
  std::vector<proxy_op*> pe_quiets_;     ///< quiets that wait for one PE
  std::vector<pending_answer> answers_;
  std::uint64_t pending_quiets_ = 0;
  bool waits_ = false;  ///< a producer has begun to wait since the last take_wait()
  bool changed_ = false;
  bool blocked_ = false;
};

}  // namespace pgas::detail
