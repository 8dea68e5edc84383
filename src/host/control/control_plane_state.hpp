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

/// Shared with groups by weak pointers: a group may outlive the control plane, and then finds this gone.
struct control_plane_state : std::enable_shared_from_this<control_plane_state> {
  /// Where a failure was detected. That PE logs it as an error and sends it to all others.
  enum class origin { here, peer };

  /// Of this PE's membership, which decides on the limits of waits; leaving: all PEs leave.
  enum class stage { joining, joined, leaving };

  control_plane_state(bootstrap& exchange, const config& settings, log::logger& logger,
                      control_plane::failure_callback callback);
  ~control_plane_state();
  control_plane_state(const control_plane_state&) = delete;
  control_plane_state& operator=(const control_plane_state&) = delete;

  /// A process of this host, as open_pidfd() has it.
  struct watched_process {
    int pe;
    unique_fd fd;
  };

  // ---- groups; any thread (control_plane.cpp)

  void begin_group(control_group::identity id, std::span<const int> members);
  void end_group(control_group::identity id) noexcept;
  [[nodiscard]] control_group::identity new_group() noexcept;

  // ---- one thread for each group (control_collectives.cpp)

  /// A collective of a group. @param combine where contributions have a value.
  [[nodiscard]] exchange_result run(control_group::identity group, collective call, blob mine, std::span<const int> fds,
                                    combiner combine);
  [[nodiscard]] std::vector<contribution> gather(const control_group& group, std::span<const std::byte> mine,
                                                 std::span<const int> fds);
  void await_leave();
  void leave();
  void check() const;
  /// How long a collective may wait at this stage; 0: for ever.
  [[nodiscard]] std::chrono::milliseconds limit_at(stage now) const noexcept;

  // ---- any thread (report_failure.cpp)

  void set_failure(const error& cause, log_level level) noexcept;
  void set_failure(const error& cause, origin from) noexcept {
    set_failure(cause, from == origin::here ? log_level::error : log_level::info);
  }
  [[nodiscard]] int stopped_pe() const;
  /// "PE 2 (host a, pid 123)"
  [[nodiscard]] std::string describe(int pe) const;

  /// What follows from the new state of a group. *Callers* hold the mutex.
  void note_progress(const group_exchange& of, control_group::identity id);
  /// What the state of a group says on wrong calls. *Callers* hold the mutex.
  [[nodiscard]] std::optional<error> wrong_call(const group_exchange& of, control_group::identity id) const;
  /// Sends the messages that groups have made. *Callers* hold `sending`, and not the mutex.
  void deliver(const group_exchange::messages& all);

  // ---- the reader (reader_thread.cpp)

  void start_reader();
  void stop_reader() noexcept;
  void run_reader();
  /// Handles the packets that have arrived. Whether more may follow: none does from a process that has died, even if a
  /// child of it holds the socket open.
  [[nodiscard]] bool read_from(tree_link& from, bool died = false);
  void handle(tree_link& from, received_packet packet);
  void handle(arrived_message message, int from);
  void handle_exchange(arrived_message message);
  void send_statuses();

  // ---- lost PEs, found by the reader (lost_peers.cpp)

  void on_disconnect(tree_link& from);
  void on_process_end(const watched_process& one);
  /// Sends heartbeats to neighbours on other hosts, and fails the world when one of them is silent for too long.
  void check_heartbeats();

  // ---- collectives on devices (device_collective.cpp)

  void count_enqueued(control_group::identity group, bool captured);
  /// Of all groups, as contribution to await_leave() (enqueued_counts.hpp).
  [[nodiscard]] blob own_counts() const;
  /// A member that leaves and has not enqueued a collective, or does not know whether it has.
  struct missing_member {
    int pe;
    bool certain;
  };
  /// *Callers* hold the mutex.
  [[nodiscard]] std::optional<missing_member> missing_leaver(const device_collective& one) const;
  /// The reader: fails the world for device_collective.
  void check_leavers();

  // ---- questions (control_collectives.cpp)

  /// The collectives that this PE waits in, as a field of a JSON object.
  [[nodiscard]] std::string describe_collectives() const;
  /// Those that have lasted so long, or longer.
  [[nodiscard]] std::vector<long_wait> overdue_collectives(std::chrono::milliseconds limit) const;

  // ---- other hosts (other_hosts.cpp)

  /// The last step of the reader: whether neighbours have received all messages, or the time for that is over.
  [[nodiscard]] bool finished();
  /// When the reader has something to do even if nothing comes.
  [[nodiscard]] std::optional<clock::time_point> next_wake() const;
  [[nodiscard]] bool on_this_host(int pe) const;

  [[nodiscard]] int n() const noexcept { return static_cast<int>(peers.size()); }

  const fork_guard owner;
  int me;
  bool several_hosts = false;
  std::chrono::milliseconds join_timeout;
  std::chrono::milliseconds wait_timeout;
  std::chrono::milliseconds wait_warning;
  std::chrono::milliseconds peer_timeout;  ///< the same on all PEs
  log::logger& log;
  const control_plane::failure_callback on_failure;
  std::vector<peer_info> peers;
  std::vector<int> hosts;                  ///< by PE, as peer_info::host_index
  std::vector<std::byte> buffer;           ///< the reader's
  std::vector<watched_process> processes;  ///< of neighbours on this host
  /// Made in advance, for failures after which there is no memory for a description.
  error no_memory{code::system, "out of host memory"};

  std::mutex sending;        ///< taken before the mutex: messages are sent in the order in which groups make them
  mutable std::mutex mutex;  ///< guards what follows
  std::condition_variable changed;
  std::map<control_group::identity, group_exchange> groups;  ///< also groups that only other PEs have made so far
  std::optional<error> failure;
  /// Collectives that this PE has enqueued on its device, by group; none where some are in graphs.
  std::map<control_group::identity, std::optional<std::uint64_t>> enqueued;
  std::vector<device_collective*> on_devices;    ///< that threads of this PE wait for
  std::optional<clock::time_point> next_status;  ///< the first of all groups
  bool all_departed = false;                     ///< all PEs have left: the end of one is no failure
  clock::time_point failed_at;
  bool left = false;
  /// Set once the failure callback has returned, so that its effects are visible to all who are thrown the failure.
  std::atomic<bool> failed{false};
  std::atomic<std::uint64_t> groups_made{0};
  std::atomic<stage> reached{stage::joining};

  std::optional<event_loop> loop;  ///< the reader's
  std::optional<tree_links> links;
  std::optional<signal_bell> on_signal;       ///< where PGAS_SIGUSR1 asks for it
  std::optional<question_service> questions;  ///< the reader's
  std::optional<wait_source> waits;           ///< of this PE, once it has a heap
  std::atomic<bool> stopping{false};          ///< tells the reader to end
  message_assembler assembler;                ///< the reader's
  owned_counter heartbeats_sent;              ///< the reader's
  owned_counter heartbeats_received;          ///< the reader's
  clock::time_point next_heartbeat;           ///< the reader's
  clock::time_point next_silence;             ///< the reader's: when a neighbour has been silent for too long
  clock::time_point last_check;               ///< the reader's
  /// Of the reader: set once it is to end.
  std::optional<clock::time_point> finish_until;
  std::thread reader;

 private:
  /// Whether this collective cannot be completed in the failed world.
  [[nodiscard]] bool cannot_complete(const group_exchange& of, std::uint64_t sequence) const;
  [[nodiscard]] error left_early(int leaver, int stayer, std::string_view doing) const;
  void fail_timeout(const group_exchange& of, std::uint64_t sequence, stage now);
};

}  // namespace pgas::detail
