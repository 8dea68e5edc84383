/// @file
/// The collectives of all groups of a PE. A thread adds its contribution to the exchange of the group, and waits for
/// the result. The reader (tree_reader.hpp) adds the messages of the neighbours.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/fork_guard.hpp"
#include "common/net/event_loop.hpp"
#include "host/connect/peer_table.hpp"
#include "host/connect/tree_links.hpp"
#include "host/exchange/control_group.hpp"
#include "host/exchange/device_collective.hpp"
#include "host/exchange/group_exchange.hpp"
#include "host/failure/long_wait_warning.hpp"
#include "host/failure/world_failure.hpp"
#include "host/log/logger.hpp"
#include "pgas/config.hpp"

namespace pgas::detail {

/// Groups hold weak pointers to the object, because a group can outlive the control plane. *Callers* any thread, unless
/// stated otherwise.
class exchange_service {
 public:
  /// The stage of this PE in the world, which determines the limits of waits. leaving: all PEs leave.
  enum class stage { joining, joined, leaving };

  exchange_service(event_loop& loop, tree_links& links, const peer_table& peers, world_failure& failures,
                   const config& settings, log::logger& log);

  [[nodiscard]] const peer_table& peers() const noexcept { return peers_; }
  /// False in a child of fork(). In a child, the locks can stay locked.
  [[nodiscard]] bool in_creator() const noexcept { return owner_.in_creator(); }

  void begin_group(control_group::identity id, std::span<const int> members);
  void end_group(control_group::identity id) noexcept;
  [[nodiscard]] control_group::identity new_groups(std::uint64_t count) noexcept;

  /// Runs a collective of a group. *Callers* of run() and gather(): one thread for each group.
  /// @param combine set if contributions have a value @param select as for group_exchange::contribute()
  [[nodiscard]] exchange_result run(control_group::identity group, collective call, blob mine, std::span<const int> fds,
                                    combiner combine, selector select = {});
  void gather(const control_group& group, std::span<const std::byte> mine, std::span<const int> fds,
              const control_group::part_handler& take);
  void joined() noexcept { reached_ = stage::joined; }
  void await_leave();
  /// The last collective. Afterwards the neighbours know that this PE leaves.
  void leave();
  [[nodiscard]] stage reached() const noexcept { return reached_; }
  /// The time limit of a collective at stage `now`; 0: no limit.
  [[nodiscard]] std::chrono::milliseconds limit_at(stage now) const noexcept;
  /// Whether all PEs have left, so that the end of a PE is not a failure.
  [[nodiscard]] bool all_departed() const;

  /// Handles a message of a group. *Callers* the reader; also for the next four functions.
  void receive(arrived_message message);
  /// Sends a message, or passes a packet on. First sends the messages that groups have made.
  void send(const outgoing_message& message);
  void send_statuses();
  /// Fails the world if a thread waits for a collective that a leaving member has not enqueued.
  void check_leavers();
  /// The time at which send_statuses() or check_leavers() has work.
  [[nodiscard]] std::optional<clock::time_point> next_wake() const;
  /// Sends a failure to the neighbours, before the program observes the failure. Every PE passes the failure on, so
  /// that no peer detects the end of this PE before the peer has received the cause. Waits until the sockets have
  /// accepted the messages, but for at most 300 ms, because it is possible that a neighbour does not read.
  void tell_neighbours(const error& cause);
  /// Wakes the threads that wait in collectives.
  void wake();

  /// Counts a collective that this PE has enqueued on its device.
  void count_enqueued(control_group::identity group, bool captured);
  void add(device_collective& one);
  void remove(device_collective& one) noexcept;

  /// The collectives in which this PE waits, as a field of a JSON object.
  [[nodiscard]] std::string describe() const;
  /// The waits in collectives that have lasted for `limit` or longer.
  [[nodiscard]] std::vector<long_wait> overdue(std::chrono::milliseconds limit) const;

 private:
  /// Updates the state after a change of a group. *Callers* hold mutex_; also for wrong_call().
  void note_progress(const group_exchange& of, control_group::identity id);
  /// The error if the state of a group shows different calls of its members.
  [[nodiscard]] std::optional<error> wrong_call(const group_exchange& of, control_group::identity id) const;

  /// Calls `change(messages)`, which changes groups, and sends the messages that they have made. Takes sending_, and
  /// mutex_ during `change` only. *Callers* hold neither.
  template <class Change>
  void update(Change&& change);
  /// The counts of all groups, as the contribution to await_leave() (enqueued_counts.hpp).
  [[nodiscard]] blob own_counts() const;
  [[nodiscard]] error left_early(int leaver, int stayer, std::string_view doing) const;
  void fail_timeout(const group_exchange& of, std::uint64_t sequence, stage now);

  const fork_guard owner_;
  event_loop& loop_;
  tree_links& links_;
  const peer_table& peers_;
  const int me_;
  world_failure& failures_;
  log::logger& log_;
  const std::chrono::milliseconds join_timeout_;
  const std::chrono::milliseconds wait_timeout_;
  std::atomic<stage> reached_{stage::joining};
  std::atomic<std::uint64_t> groups_made_{0};

  std::mutex sending_;        ///< taken before mutex_, so that messages are sent in the order in which groups make them
  mutable std::mutex mutex_;  ///< guards the members below
  std::condition_variable changed_;
  std::map<control_group::identity, group_exchange> groups_;  ///< includes groups that only other PEs have made so far
  /// The number of collectives that this PE has enqueued on its device, by group. A number is empty if some of the
  /// collectives are in graphs.
  std::map<control_group::identity, std::optional<std::uint64_t>> enqueued_;
  std::vector<device_collective*> on_devices_;    ///< the collectives on devices that threads of this PE wait for
  std::optional<clock::time_point> next_status_;  ///< the earliest next status of all groups
  bool all_departed_ = false;
  bool left_ = false;
};

}  // namespace pgas::detail
