/// @file
/// The collectives of one group: contributions are combined on the way up the group's tree, and the result is sent
/// down. A message crosses each link of the tree once in each direction. Once all but one child of the root have
/// come, the root sends their result to this child, which has the whole result as soon as it comes: two PEs exchange
/// their contributions at the same time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "common/deadline.hpp"
#include "host/control/control_message.hpp"
#include "host/control/group_tree.hpp"

namespace pgas::detail {

/// Makes one value of two: of those that are below this PE in the tree, in an order that the tree decides.
using combiner = std::function<void(blob& all, std::span<const std::byte> more)>;

/// The descriptors of a PE of this host.
struct sent_descriptors {
  std::vector<unique_fd> fds;
  bool lost = false;
};

struct exchange_result {
  blob value;
  std::map<int, sent_descriptors> descriptors;  ///< by PE, without this one
};

/// A state machine without sockets or threads: calls give it contributions, messages and the time, and it appends the
/// messages to be sent to `out`. Members make the calls in the same order, so a number identifies a collective. A
/// member may contribute before another has made the group. PEs have their numbers of the world. Not thread-safe.
class group_exchange {
 public:
  using messages = std::vector<outgoing_message>;

  /// Two PEs that make different calls.
  struct mismatch {
    int pe;
    collective call;
    int other;
    collective other_call;
  };
  /// A collective that PE `pe` has come to, and this one has not.
  struct expectation {
    int pe;
    collective call;
  };
  /// The collective that this PE waits in.
  struct own_wait {
    std::uint64_t sequence;
    collective call;
    clock::time_point since;
  };

  explicit group_exchange(std::uint64_t id = 0) : id_(id) {}

  /// Messages that came before are handled now. *Errors* those of receive().
  void set_members(std::shared_ptr<const group_layout> layout, int me, clock::time_point now, messages& out);
  [[nodiscard]] std::span<const int> members() const noexcept {
    return layout_ ? std::span<const int>(layout_->members) : std::span<const int>();
  }
  [[nodiscard]] const group_tree& tree() const noexcept { return tree_; }

  /// This PE begins its next collective; gives its number. @param fds stay the caller's, for PEs of this host.
  [[nodiscard]] std::uint64_t contribute(collective call, blob mine, std::span<const int> fds, combiner combine,
                                         clock::time_point now, messages& out);
  /// A message of this group. *Errors* bootstrap_protocol for one that no member would send.
  void receive(arrived_message message, clock::time_point now, messages& out);
  /// Tells neighbours which members have come to a collective that lasts. *Callers* when next_status() is due.
  void send_status(clock::time_point now, messages& out);
  [[nodiscard]] std::optional<clock::time_point> next_status() const;
  /// A PE has died: a neighbour in the tree that collectives still need. They are abandoned everywhere.
  void lose(int pe, messages& out);

  [[nodiscard]] bool complete(std::uint64_t sequence) const;
  [[nodiscard]] bool abandoned(std::uint64_t sequence) const;
  /// This PE no longer waits for the collective, and closes its descriptors.
  void withdraw(std::uint64_t sequence);
  /// Removes a complete collective and gives its result.
  [[nodiscard]] exchange_result take(std::uint64_t sequence);

  /// The first mismatch that was seen.
  [[nodiscard]] const std::optional<mismatch>& different_calls() const noexcept { return mismatch_; }
  [[nodiscard]] std::optional<expectation> awaits_this_pe() const;
  [[nodiscard]] std::optional<own_wait> waits() const;
  /// Whether every PE has called leave() as the last collective that was completed.
  [[nodiscard]] bool all_leave() const noexcept { return last_completed_ == collective::leave; }
  /// The members that are known to wait in await_leave() or leave(), in ascending order.
  [[nodiscard]] std::vector<int> leavers() const;
  /// What the leavers have enqueued, merged by merge_counts(). Empty where no member is known to leave.
  [[nodiscard]] blob counts_of_leavers() const;
  /// Members that are not known to have come to the collective.
  [[nodiscard]] std::vector<int> missing(std::uint64_t sequence) const;

 private:
  using member_set = std::vector<std::uint8_t>;  ///< a bit for each member

  /// Of a table that follows the value of a result: the descriptors that come with it.
  struct descriptor_entry {
    static constexpr std::uint32_t lost = ~std::uint32_t{0};
    std::int32_t pe;
    std::uint32_t fds;
  };
  /// A value and its table, as they are sent.
  [[nodiscard]] static blob with_table(const blob& value, std::span<const descriptor_entry> table);
  /// The inverse: cuts the table off.
  [[nodiscard]] static std::optional<std::vector<descriptor_entry>> take_table(blob& bytes);

  /// One collective.
  struct round {
    collective call = collective::none;  ///< of the first PE that is known to have come, `caller`
    int caller = -1;
    bool mine = false;      ///< this PE has contributed
    bool combined = false;  ///< with all below it
    int answered = -1;      ///< of the root: the child that has the result of all others, before it has come
    bool answer = false;    ///< `of_others` is there
    bool done = false;
    bool given_up = false;
    blob value;
    blob of_others;                       ///< the result without this PE and those below it
    std::vector<int> fds;                 ///< of this PE, the caller's
    std::vector<unique_fd> owned;         ///< of the children on this host
    std::vector<descriptor_entry> table;  ///< of all these
    combiner combine;
    std::map<int, arrived_message> parts;  ///< by child
    exchange_result result;
    member_set known;  ///< by statuses
    blob known_value;  ///< of await_leave: the counts of these members
    member_set told;   ///< the last status that was sent
    clock::time_point began;
    clock::time_point next_status;
    milliseconds pause{};
  };

  [[nodiscard]] round& at(std::uint64_t sequence, int caller, collective call, clock::time_point now);
  void advance(std::uint64_t number, round& one, messages& out);
  void keep_descriptors(round& one, int child, arrived_message& part) const;
  void finish_with_others(std::uint64_t number, round& one, messages& out);
  void finish(std::uint64_t number, round& one, blob value, messages& out);
  void take_up(arrived_message message, clock::time_point now, messages& out);
  void take_down(arrived_message message, clock::time_point now, messages& out);
  /// The root: answers the last child before it comes, with what all others have contributed.
  void answer_last(std::uint64_t number, round& one, messages& out);
  void combine_parts(round& one) const;
  void take_status(const arrived_message& message, clock::time_point now, messages& out);
  void abandon(std::uint64_t number, round& one, int except, messages& out);
  /// Those that need a neighbour that is lost.
  void abandon_lost(messages& out);
  [[nodiscard]] bool is_neighbour(int pe) const;
  void send(message_kind kind, std::uint64_t number, collective call, int to, std::shared_ptr<parcel> content,
            messages& out, bool of_others = false) const;
  [[nodiscard]] member_set arrived(const round& one) const;
  /// Of await_leave: the counts of arrived().
  [[nodiscard]] blob value_of_arrived(const round& one) const;
  [[noreturn]] void refuse(const arrived_message& message) const;

  std::uint64_t id_;
  int me_ = -1;
  std::shared_ptr<const group_layout> layout_;  ///< null until this PE has made the group
  group_tree tree_;
  std::vector<arrived_message> early_;
  std::uint64_t next_ = 0;   ///< the first collective that this PE has not begun
  std::uint64_t first_ = 0;  ///< collectives before this one are over
  collective last_completed_ = collective::none;
  std::map<std::uint64_t, round> rounds_;
  std::optional<mismatch> mismatch_;
  std::vector<int> lost_;  ///< neighbours
};

}  // namespace pgas::detail
