/// @file
/// The state of the control plane: connections, the thread that reads them, pending collectives and the first failure.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/fork_guard.hpp"
#include "common/net/event_loop.hpp"
#include "common/owned_counter.hpp"
#include "common/unique_fd.hpp"
#include "host/control/connection.hpp"
#include "host/control/control_message.hpp"
#include "host/control/control_plane.hpp"
#include "host/control/device_collective.hpp"
#include "host/control/group_exchange.hpp"
#include "host/control/question_service.hpp"
#include "host/control/signal_bell.hpp"
#include "host/control/tree_links.hpp"
#include "host/log/logger.hpp"

namespace pgas::detail {

/// Groups hold weak pointers to the state, because a group may outlive the control plane.
struct control_plane_state : std::enable_shared_from_this<control_plane_state> {
  /// The place where a failure was detected. The PE that detects a failure logs it as an error and sends it to all
  /// other PEs.
  enum class origin { here, peer };

  /// The stage of this PE in the world, which determines the limits of waits. leaving: all PEs leave.
  enum class stage { joining, joined, leaving };

  control_plane_state(bootstrap& exchange, const config& settings, log::logger& logger,
                      control_plane::failure_callback callback);
  ~control_plane_state();
  control_plane_state(const control_plane_state&) = delete;
  control_plane_state& operator=(const control_plane_state&) = delete;

  /// A process of this host, with the descriptor of open_pidfd().
  struct watched_process {
    int pe;
    unique_fd fd;
  };

  // ---- groups; any thread (control_plane.cpp)

  void begin_group(control_group::identity id, std::span<const int> members);
  void end_group(control_group::identity id) noexcept;
  [[nodiscard]] control_group::identity new_group() noexcept;

  // ---- one thread for each group (control_collectives.cpp)

  /// Runs a collective of a group. @param combine set if contributions have a value
  [[nodiscard]] exchange_result run(control_group::identity group, collective call, blob mine, std::span<const int> fds,
                                    combiner combine);
  [[nodiscard]] std::vector<contribution> gather(const control_group& group, std::span<const std::byte> mine,
                                                 std::span<const int> fds);
  void await_leave();
  void leave();
  void check() const;
  /// The time limit of a collective at this stage; 0: no limit.
  [[nodiscard]] std::chrono::milliseconds limit_at(stage now) const noexcept;

  // ---- any thread (report_failure.cpp)

  void set_failure(const error& cause, log_level level) noexcept;
  void set_failure(const error& cause, origin from) noexcept {
    set_failure(cause, from == origin::here ? log_level::error : log_level::info);
  }
  [[nodiscard]] int stopped_pe() const;
  /// The name of a PE: "PE 2 (host a, pid 123)".
  [[nodiscard]] std::string describe(int pe) const;

  /// Updates the state of the control plane after a change of a group. *Callers* hold the mutex.
  void note_progress(const group_exchange& of, control_group::identity id);
  /// The error if the state of a group shows different calls of its members. *Callers* hold the mutex.
  [[nodiscard]] std::optional<error> wrong_call(const group_exchange& of, control_group::identity id) const;
  /// Sends the messages that groups have made. *Callers* hold `sending` and do not hold the mutex.
  void deliver(const group_exchange::messages& all);

  // ---- the reader (reader_thread.cpp)

  void start_reader();
  void stop_reader() noexcept;
  void run_reader();
  /// Handles the packets that have arrived. Returns whether more packets may follow. No packets follow from a process
  /// that has died, even if a child of the process holds the socket open.
  [[nodiscard]] bool read_from(tree_link& from, bool died = false);
  void handle(tree_link& from, received_packet packet);
  void handle(arrived_message message, int from);
  void handle_exchange(arrived_message message);
  void send_statuses();

  // ---- lost PEs, found by the reader (lost_peers.cpp)

  void on_disconnect(tree_link& from);
  void on_process_end(const watched_process& one);
  /// Sends heartbeats to neighbours on other hosts. Fails the world if such a neighbour is silent for too long.
  void check_heartbeats();

  // ---- collectives on devices (device_collective.cpp)

  void count_enqueued(control_group::identity group, bool captured);
  /// The counts of all groups, as the contribution to await_leave() (enqueued_counts.hpp).
  [[nodiscard]] blob own_counts() const;
  /// A member that leaves without having enqueued a collective. The member may not know its own count.
  struct missing_member {
    int pe;
    bool certain;
  };
  /// *Callers* hold the mutex.
  [[nodiscard]] std::optional<missing_member> missing_leaver(const device_collective& one) const;
  /// Fails the world if a thread waits for a collective that a leaving member has not enqueued. *Callers* the reader.
  void check_leavers();

  // ---- questions (control_collectives.cpp)

  /// The collectives in which this PE waits, as a field of a JSON object.
  [[nodiscard]] std::string describe_collectives() const;
  /// The waits in collectives that have lasted for `limit` or longer.
  [[nodiscard]] std::vector<long_wait> overdue_collectives(std::chrono::milliseconds limit) const;

  // ---- other hosts (other_hosts.cpp)

  /// The last step of the reader. Returns whether neighbours have received all messages or the time limit has passed.
  [[nodiscard]] bool finished();
  /// The time at which the reader has work even if no message arrives.
  [[nodiscard]] std::optional<clock::time_point> next_wake() const;
  [[nodiscard]] bool on_this_host(int pe) const;

  [[nodiscard]] int n() const noexcept { return static_cast<int>(peers.size()); }

  const fork_guard owner;
  int me;
  bool several_hosts = false;
  std::chrono::milliseconds join_timeout;
  std::chrono::milliseconds wait_timeout;
  std::chrono::milliseconds wait_warning;
  std::chrono::milliseconds peer_timeout;  ///< the smallest PGAS_HEARTBEAT_TIMEOUT of all PEs
  log::logger& log;
  const control_plane::failure_callback on_failure;
  std::vector<peer_info> peers;
  std::vector<int> hosts;                  ///< peer_info::host_index, by PE
  std::vector<std::byte> buffer;           ///< the reader's buffer for packets
  std::vector<watched_process> processes;  ///< the processes of neighbours on this host
  /// Made in advance, for failures without memory for a description.
  error no_memory{code::system, "out of host memory"};

  std::mutex sending;  ///< taken before the mutex, so that messages are sent in the order in which groups make them
  mutable std::mutex mutex;  ///< guards the members below
  std::condition_variable changed;
  std::map<control_group::identity, group_exchange> groups;  ///< also groups that only other PEs have made so far
  std::optional<error> failure;
  /// The number of collectives that this PE has enqueued on its device, by group. Empty if some are in graphs.
  std::map<control_group::identity, std::optional<std::uint64_t>> enqueued;
  std::vector<device_collective*> on_devices;    ///< the collectives on devices that threads of this PE wait for
  std::optional<clock::time_point> next_status;  ///< the earliest next status of all groups
  bool all_departed = false;                     ///< all PEs have left: the end of a PE is not a failure
  clock::time_point failed_at;
  bool left = false;
  /// Set after the failure callback has returned, so that a caller that catches the failure sees the callback's
  /// effects.
  std::atomic<bool> failed{false};
  std::atomic<std::uint64_t> groups_made{0};
  std::atomic<stage> reached{stage::joining};

  std::optional<event_loop> loop;  ///< the loop of the reader
  std::optional<tree_links> links;
  std::optional<signal_bell> on_signal;       ///< set if PGAS_SIGUSR1 is set
  std::optional<question_service> questions;  ///< used by the reader
  std::optional<wait_source> waits;           ///< the functions that answer questions; set when this PE has a heap
  std::atomic<bool> stopping{false};          ///< tells the reader to end
  message_assembler assembler;                ///< used by the reader
  owned_counter heartbeats_sent;              ///< counted by the reader
  owned_counter heartbeats_received;          ///< counted by the reader
  clock::time_point next_heartbeat;           ///< the time of the reader's next heartbeats
  clock::time_point next_silence;             ///< the time at which a neighbour has been silent for too long
  clock::time_point last_check;               ///< the time of the reader's last check
  /// The time by which the reader ends; empty until the end of the control plane.
  std::optional<clock::time_point> finish_until;
  std::thread reader;

 private:
  /// Whether this collective cannot be completed in the failed world.
  [[nodiscard]] bool cannot_complete(const group_exchange& of, std::uint64_t sequence) const;
  [[nodiscard]] error left_early(int leaver, int stayer, std::string_view doing) const;
  void fail_timeout(const group_exchange& of, std::uint64_t sequence, stage now);
};

}  // namespace pgas::detail
