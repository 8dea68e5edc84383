/// @file
/// The thread that reads from the neighbours of this PE in the tree. It handles their messages, passes on the messages
/// of other PEs, and detects lost PEs. Linux reports the end of a process of this host and the end of a connection. PEs
/// of other hosts send heartbeats.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "common/net/event_loop.hpp"
#include "common/owned_counter.hpp"
#include "common/unique_fd.hpp"
#include "host/connect/control_message.hpp"
#include "host/connect/peer_table.hpp"
#include "host/connect/tree_links.hpp"
#include "host/exchange/exchange_service.hpp"
#include "host/failure/question_service.hpp"
#include "host/failure/world_failure.hpp"

namespace pgas::detail {

/// The counters of the control plane.
struct control_statistics {
  std::uint64_t heartbeats_sent = 0;
  std::uint64_t heartbeats_received = 0;
  /// For each PE that is a neighbour on another host: the time since its last message. Empty for all other PEs.
  std::vector<std::optional<std::chrono::milliseconds>> silence;
};

/// *Callers* the owner of the control plane; for on_launcher_report() and statistics(), any thread.
class tree_reader {
 public:
  /// @param peer_timeout the silence after which a neighbour on another host counts as lost
  tree_reader(event_loop& loop, tree_links& links, const peer_table& peers, world_failure& failures,
              exchange_service& exchanges, question_service& questions, std::chrono::milliseconds peer_timeout);

  void start();
  /// Sends the last messages and ends the thread. From now on no event is a failure.
  void stop() noexcept;
  void on_launcher_report(int pe, std::string how);
  [[nodiscard]] control_statistics statistics() const;

 private:
  /// The process of a neighbour on this host, with the descriptor of open_pidfd().
  struct watched_process {
    int pe;
    unique_fd fd;
  };

  void run();
  /// Runs a step. An exception ends the world, not the process. Returns false after an exception.
  template <class Step>
  bool guarded(Step&& step) noexcept;
  /// Handles the packets that have arrived. Returns whether more packets can follow. No packets follow from a process
  /// that has died, even if a child of the process holds the socket open.
  [[nodiscard]] bool read_from(tree_link& from, bool died = false);
  void handle(tree_link& from, received_packet packet);
  void handle(arrived_message message, int from);
  void on_disconnect(tree_link& from);
  void on_process_end(const watched_process& one);
  /// Sends heartbeats to neighbours on other hosts. Fails the world if one of these neighbours is silent for too long.
  void check_heartbeats();
  /// The time at which the thread has work even if no message arrives.
  [[nodiscard]] std::optional<clock::time_point> next_wake() const;
  /// The last step. Returns whether neighbours have received all messages or the time limit has passed.
  [[nodiscard]] bool finished();

  event_loop& loop_;
  tree_links& links_;
  const peer_table& peers_;
  world_failure& failures_;
  exchange_service& exchanges_;
  question_service& questions_;
  const std::chrono::milliseconds peer_timeout_;
  const bool several_hosts_;
  std::vector<watched_process> processes_;
  message_assembler assembler_;
  owned_counter heartbeats_sent_;
  owned_counter heartbeats_received_;
  clock::time_point next_heartbeat_;
  clock::time_point next_silence_;  ///< the time at which a neighbour has been silent for too long
  clock::time_point last_check_;
  std::atomic<bool> stopping_{false};              ///< tells the thread to end
  std::optional<clock::time_point> finish_until_;  ///< the time by which the thread ends; empty until stop()
  std::thread thread_;
};

}  // namespace pgas::detail
