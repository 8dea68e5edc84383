/// @file
/// The collectives of one group. Contributions are combined on the way up the group's tree, and the result is sent
/// down. A message crosses each link of the tree once in each direction. When all children of the root except one have
/// contributed, the root sends the combined contributions of all others to this last child immediately. The last child
/// has the whole result as soon as it contributes. In a group of two PEs, both PEs therefore send at the same time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "common/deadline.hpp"
#include "host/connect/control_message.hpp"
#include "host/connect/group_tree.hpp"

namespace pgas::detail {

/// Combines two values into one. The tree determines the order of the values.
using combiner = std::function<void(blob& all, std::span<const std::byte> more)>;

/// Returns the part of a result that the PEs below a child need. `below` is the combined contribution of these PEs.
using selector = std::function<blob(std::span<const std::byte> result, std::span<const std::byte> below)>;

struct exchange_result {
  blob value;
  std::map<int, contribution> descriptors;  ///< indexed by PE; entries of all other PEs of this host, without bytes
};

/// A state machine without sockets and threads. Its inputs are contributions, messages and the time. It appends the
/// messages to be sent to `out`. Members make their calls in the same order, so a number identifies a collective. A
/// member can contribute before another member has made the group. PEs are world numbers. Not thread-safe.
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
  /// A collective that PE `pe` has called and this PE has not called.
  struct expectation {
    int pe;
    collective call;
  };
  /// The collective in which this PE waits.
  struct own_wait {
    std::uint64_t sequence;
    collective call;
    clock::time_point since;
  };

  explicit group_exchange(std::uint64_t id = 0) : id_(id) {}

  /// Sets the members of the group, and handles the messages that arrived earlier. *Errors* those of receive().
  void set_members(std::shared_ptr<const group_layout> layout, int me, clock::time_point now, messages& out);
  [[nodiscard]] std::span<const int> members() const noexcept {
    return layout_ ? std::span<const int>(layout_->members) : std::span<const int>();
  }
  [[nodiscard]] const group_tree& tree() const noexcept { return tree_; }

  /// Begins the next collective of this PE. Returns the number of the collective. @param fds descriptors for the PEs of
  /// this host; the caller still owns them @param select set if children receive only parts of the result; `fds` is
  /// then empty
  [[nodiscard]] std::uint64_t contribute(collective call, blob mine, std::span<const int> fds, combiner combine,
                                         clock::time_point now, messages& out, selector select = {});
  /// Handles a message of this group. *Errors* bootstrap_protocol for a message that a correct member never sends.
  void receive(arrived_message message, clock::time_point now, messages& out);
  /// Sends neighbours the set of members that have called a pending collective. Called when next_status() is due.
  void send_status(clock::time_point now, messages& out);
  [[nodiscard]] std::optional<clock::time_point> next_status() const;
  /// Handles the death of a PE. If the PE is a neighbour in the tree, the collectives that need it are abandoned on all
  /// members.
  void lose(int pe, messages& out);

  [[nodiscard]] bool complete(std::uint64_t sequence) const;
  [[nodiscard]] bool abandoned(std::uint64_t sequence) const;
  /// Ends the wait of this PE for the collective. The descriptors of contribute() are not used afterwards.
  void withdraw(std::uint64_t sequence);
  /// Removes a complete collective and returns its result.
  [[nodiscard]] exchange_result take(std::uint64_t sequence);

  /// The first mismatch that was seen.
  [[nodiscard]] const std::optional<mismatch>& different_calls() const noexcept { return mismatch_; }
  [[nodiscard]] std::optional<expectation> awaits_this_pe() const;
  [[nodiscard]] std::optional<own_wait> waits() const;
  /// Whether the last completed collective was leave(), so that all PEs leave.
  [[nodiscard]] bool all_leave() const noexcept { return last_completed_ == collective::leave; }
  /// The members that are known to wait in await_leave() or leave(), in ascending order.
  [[nodiscard]] std::vector<int> leavers() const;
  /// The counts of the leaving members, merged by merge_counts(). Empty if no member is known to leave.
  [[nodiscard]] blob counts_of_leavers() const;
  /// The members that are not known to have called the collective.
  [[nodiscard]] std::vector<int> missing(std::uint64_t sequence) const;

 private:
  using member_set = std::vector<std::uint8_t>;  ///< a bit for each member

  /// An entry of the table that follows the value of a result: the number of descriptors of one PE.
  struct descriptor_entry {
    static constexpr std::uint32_t lost = ~std::uint32_t{0};
    std::int32_t pe;
    std::uint32_t fds;
  };
  /// Makes the bytes of a message from a value and a table.
  [[nodiscard]] static blob with_table(const blob& value, std::span<const descriptor_entry> table);
  /// Removes the table from the bytes of a message, and returns it.
  [[nodiscard]] static std::optional<std::vector<descriptor_entry>> take_table(blob& bytes);

  /// The state of one collective.
  struct round {
    collective call = collective::none;  ///< the call of `caller`, the first PE that is known to have called
    int caller = -1;
    bool mine = false;      ///< this PE has contributed
    bool combined = false;  ///< the contributions of all PEs below this PE are combined
    int answered = -1;      ///< on the root: the child that answer_last() has sent the contributions of all others
    bool answer = false;    ///< `of_others` has arrived
    bool done = false;
    bool given_up = false;
    blob value;
    blob of_others;                       ///< the result without the contributions of this PE and the PEs below it
    std::vector<int> fds;                 ///< the descriptors of this PE, which the caller owns
    std::vector<unique_fd> owned;         ///< the descriptors of the children on this host
    std::vector<descriptor_entry> table;  ///< the table of the descriptors in `fds` and `owned`
    combiner combine;
    selector select;
    std::map<int, blob> below;             ///< with `select`: the contributions of children, indexed by child
    std::map<int, arrived_message> parts;  ///< the contributions of children, indexed by child
    exchange_result result;
    member_set known;  ///< the members that statuses have reported
    blob known_value;  ///< for await_leave: the counts of the known members
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
  /// On the root: sends the combined contributions of all others to the last child in advance.
  void answer_last(std::uint64_t number, round& one, messages& out);
  void combine_parts(round& one) const;
  void take_status(const arrived_message& message, clock::time_point now, messages& out);
  void abandon(std::uint64_t number, round& one, int except, messages& out);
  /// Abandons the collectives that need a lost neighbour.
  void abandon_lost(messages& out);
  [[nodiscard]] bool is_neighbour(int pe) const;
  void send(message_kind kind, std::uint64_t number, collective call, int to, std::shared_ptr<parcel> content,
            messages& out, bool of_others = false) const;
  [[nodiscard]] member_set arrived(const round& one) const;
  /// For await_leave: the counts of the members in arrived().
  [[nodiscard]] blob value_of_arrived(const round& one) const;
  [[noreturn]] void refuse(const arrived_message& message) const;

  std::uint64_t id_;
  int me_ = -1;
  std::shared_ptr<const group_layout> layout_;  ///< null until this PE has made the group
  group_tree tree_;
  std::vector<arrived_message> early_;
  std::uint64_t next_ = 0;   ///< the first collective that this PE has not begun
  std::uint64_t first_ = 0;  ///< all collectives with a lower number have ended
  collective last_completed_ = collective::none;
  std::map<std::uint64_t, round> rounds_;
  std::optional<mismatch> mismatch_;
  std::vector<int> lost_;  ///< lost neighbours
};

}  // namespace pgas::detail
