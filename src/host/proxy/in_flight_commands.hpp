/// @file
/// The commands of one ring that are under way, and the order among them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "host/proxy/fifo.hpp"
#include "host/proxy/proxy_op.hpp"
#include "host/proxy/ring.hpp"

namespace pgas::detail {

/// Rules of order, as command.hpp states them, in terms of records and what is outside their order:
///
/// * Records to one PE take effect in the order in which they are appended. What is `unordered` does not: large things,
///   gets, and signals that are held.
/// * After a fence, records wait until nothing unordered is under way to that PE; unordered things wait until nothing
/// is.
/// * A signal goes when all data before it, its own included, is complete, or in records to the same PE. Signals that
///   have to wait are held, in the order of the ring, and nothing else waits for them but what comes after a fence.
class in_flight_commands {
 public:
  static constexpr std::size_t window = 2048;  ///< commands under way at once

  in_flight_commands(ring& source, int n);

  [[nodiscard]] ring* source() const noexcept { return source_; }
  /// Touches the ring no more.
  void retire() noexcept {
    source_ = nullptr;
    answers_.clear();
  }

  [[nodiscard]] bool full() const noexcept { return begun_ - completed_ == window; }
  [[nodiscard]] bool empty() const noexcept { return begun_ == completed_; }

  // ---- a command's way

  /// Whether a command to `pe` may be issued now, in order or not.
  [[nodiscard]] bool is_ordered(int pe, bool unordered) noexcept;
  /// Whether a signal that is begun now could go at once, in a record to `pe`.
  [[nodiscard]] bool signal_may_go(int pe) const noexcept;
  /// The next command; its data is under way from here on, if it has any.
  proxy_op& begin(const command& what, bool unordered);
  /// Later commands to `pe` come after earlier ones.
  void fence(int pe) noexcept;
  /// Whether there has been a fence since the last call; for records to `pe`, which take effect in their order, but not
  /// behind one another unless they say so.
  [[nodiscard]] bool take_fence(int pe) noexcept;
  /// The signal of `op` goes when it may.
  void defer_signal(proxy_op& op);
  /// The first signal that is held, if it may go now.
  [[nodiscard]] proxy_op* ready_signal() noexcept;
  /// It has been sent.
  void signal_sent() noexcept;
  /// Everything of the data has been handed to messages or the transport.
  void all_issued(proxy_op& op);
  /// A part of the data has arrived.
  void part_done(proxy_op& op);
  void piece_done(proxy_op& op);
  /// The operation has taken effect as a whole.
  void complete(proxy_op& op) noexcept;
  /// Waits for what is before it.
  void quiet(proxy_op& op);
  /// Whether somebody has begun to wait, since the last call, for what is under way to any PE.
  [[nodiscard]] bool take_wait() noexcept;
  /// Whether something is under way to `pe`.
  [[nodiscard]] bool has_under_way(int pe) const noexcept { return order_to(pe).incomplete > 0; }

  /// Tells the producers what they wait for: answers, how much has been taken and how much is complete. Whether there
  /// was anything to tell. To be called when messages have gone: producers poll these words, so that each costs a miss,
  /// and on x86 stores behind it wait.
  bool settle();

 private:
  /// After a fence, to one PE.
  enum class barrier : std::uint8_t { none, for_unordered, for_all };
  struct order {
    std::uint32_t incomplete = 0;
    std::uint32_t data = 0;       ///< data under way
    std::uint32_t unordered = 0;  ///< of the above, with held signals
    barrier fence = barrier::none;
    bool fenced = false;  ///< a fence that no record has told of
  };

  [[nodiscard]] proxy_op& at(std::uint64_t number) noexcept { return transfers_[number % window]; }
  [[nodiscard]] order& order_of(const proxy_op& op) noexcept { return orders_[static_cast<std::size_t>(op.what.pe)]; }
  [[nodiscard]] const order& order_to(int pe) const noexcept { return orders_[static_cast<std::size_t>(pe)]; }
  struct due_answer {
    std::uint32_t cell;
    std::uint64_t low;
    std::uint64_t high;
  };
  void answer_sources(proxy_op& op);
  void data_done(proxy_op& op);
  void answer(proxy_op& op, std::uint64_t low, std::uint64_t high);

  ring* source_;
  std::vector<proxy_op> transfers_;
  std::vector<order> orders_;  ///< by PE
  std::uint64_t begun_ = 0;
  std::uint64_t completed_ = 0;   ///< from the first on without a gap
  std::uint64_t data_ = 0;        ///< operations with data under way, to all PEs
  std::uint64_t first_data_ = 0;  ///< none before it has data under way
  std::uint64_t scanned_ = 0;     ///< nothing before it keeps the first held signal
  fifo<proxy_op*> held_;
  std::vector<proxy_op*> quiets_;  ///< that ask for one PE
  std::vector<due_answer> answers_;
  std::uint64_t unanswered_ = 0;  ///< quiets
  bool waits_ = false;            ///< since the last take_wait()
  bool changed_ = false;
};

}  // namespace pgas::detail
