/// @file
/// PEs as objects of one process. The PEs use the control plane's own state machines (group_tree, group_exchange).
/// Messages between PEs take simulated time. The simulation counts messages, their bytes and the lengths of their
/// chains.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "host/exchange/group_exchange.hpp"

namespace pgas::scale_test {

using namespace pgas::detail;
using microseconds = std::chrono::microseconds;

/// The latency from one neighbour to the next, and the time that a PE spends on a message.
struct latency_model {
  microseconds inside_host{15};
  microseconds between_hosts{60};
  microseconds handling{3};
  microseconds jitter{0};  ///< the largest delay added to a message; messages of one link stay in order
};

struct traffic {
  std::uint64_t messages = 0;  ///< the number of messages over links; a message that is passed on is counted on each
                               ///< link
  std::uint64_t bytes = 0;
  std::uint64_t most_bytes_on_link = 0;  ///< the largest number of bytes on a link in one direction
  int longest_chain = 0;                 ///< the number of messages of the longest chain; each message of a chain
                                         ///< causes the next message
  std::chrono::nanoseconds time{0};
};

class simulated_world {
 public:
  simulated_world(int n, int per_host, latency_model model = {}, unsigned seed = 1);

  [[nodiscard]] int n() const { return static_cast<int>(nodes_.size()); }
  /// Makes a group at PE `pe`.
  void make_group(int pe, std::uint64_t id, const std::shared_ptr<const group_layout>& members);
  [[nodiscard]] std::shared_ptr<const group_layout> layout_of(const std::vector<int>& members) const {
    return std::make_shared<group_layout>(members, hosts_);
  }
  /// The layout of all PEs.
  [[nodiscard]] const std::shared_ptr<const group_layout>& whole() const { return whole_; }
  /// Begins a collective of a group at PE `pe`.
  void begin(int pe, std::uint64_t id, collective call, blob mine = {}, combiner combine = {}, selector select = {});
  /// Does `work` after `delay`.
  void at(microseconds delay, std::function<void()> work);
  /// Kills a PE. The PE sends no more messages, and its neighbours in the tree see its end. All PEs learn of the end.
  void kill(int pe);
  [[nodiscard]] bool alive(int pe) const { return node(pe).alive; }

  /// Runs until no message is in flight.
  void run();
  /// The result of the last collective that a PE has begun. Empty if the collective is not complete.
  [[nodiscard]] std::optional<blob> take(int pe, std::uint64_t id);
  /// Whether take() has returned the result of the last collective.
  [[nodiscard]] bool taken(int pe, std::uint64_t id) const { return node(pe).taken.contains(id); }
  [[nodiscard]] bool abandoned(int pe, std::uint64_t id) const;
  [[nodiscard]] group_exchange& group(int pe, std::uint64_t id);

  /// The counts since the last call.
  [[nodiscard]] traffic counted();

 private:
  struct one_pe {
    group_tree tree;
    std::map<std::uint64_t, group_exchange> groups;
    std::map<std::uint64_t, std::uint64_t> last;  ///< the number of the last collective that was begun, by group
    std::set<std::uint64_t> taken;                ///< groups whose last result was taken
    std::map<int, clock::time_point> link_free;   ///< the arrival time of the last message, by neighbour
    clock::time_point free;                       ///< the time at which the PE has handled all messages so far
    int chain = 0;
    bool alive = true;
  };
  struct event {
    clock::time_point when;
    std::uint64_t number;
    std::function<void()> work;
    bool operator<(const event& other) const {
      // The earliest message is at the top of the queue.
      return std::pair(when, number) > std::pair(other.when, other.number);
    }
  };

  [[nodiscard]] one_pe& node(int pe) { return nodes_[static_cast<std::size_t>(pe)]; }
  [[nodiscard]] const one_pe& node(int pe) const { return nodes_[static_cast<std::size_t>(pe)]; }
  void send(int from, const group_exchange::messages& out, int chain);
  void hop(int from, const std::shared_ptr<outgoing_message>& message, int chain);
  void arrive(int at, const std::shared_ptr<outgoing_message>& message, int chain);

  const latency_model model_;
  std::vector<int> hosts_;
  std::shared_ptr<const group_layout> whole_;
  std::vector<one_pe> nodes_;
  std::priority_queue<event> events_;
  std::uint64_t numbers_ = 0;
  clock::time_point now_{};
  clock::time_point counted_from_{};
  traffic traffic_;
  std::map<std::pair<int, int>, std::uint64_t> link_bytes_;
  std::minstd_rand random_;
};

}  // namespace pgas::scale_test
