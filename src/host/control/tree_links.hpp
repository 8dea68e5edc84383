/// @file
/// The connections of a PE to its neighbours in the tree of the world, and the way of a message along the tree.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "common/deadline.hpp"
#include "common/net/event_loop.hpp"
#include "common/owned_counter.hpp"
#include "host/control/connection.hpp"
#include "host/control/control_message.hpp"
#include "host/control/group_tree.hpp"

namespace pgas::detail {

/// A neighbour in the tree of the world.
struct tree_link {
  tree_link(int of, std::unique_ptr<connection> over, bool between_hosts)
      : pe(of), to(std::move(over)), queue(*to), remote(between_hosts) {}

  const int pe;
  const std::unique_ptr<connection> to;  ///< open for the lifetime of this object, since any thread may be sending
  packet_queue queue;
  const bool remote;
  std::atomic<bool> departed{false};           ///< it has left, its end is no failure
  std::atomic<bool> ended{false};              ///< nothing more comes from it
  std::atomic<bool> finished{false};           ///< its sending direction has ended
  std::atomic<clock::time_point> last_seen{};  ///< written by the reader: time of the last packet
};

/// Sending never waits: what a neighbour does not take yet waits in its queue. *Callers* any thread, but for calls of
/// the reader, the thread that runs the loop.
class tree_links {
 public:
  /// @param on_problem called with the neighbour and an errno for which nothing can be sent to it, but not where it has
  /// closed the connection. `loop` and `hosts`, by PE, live as long.
  tree_links(event_loop& loop, int me, std::span<const int> hosts, std::function<void(int, int)> on_problem);

  [[nodiscard]] const group_tree& tree() const noexcept { return tree_; }
  /// *Callers* one thread, before any other call.
  void add(int pe, std::unique_ptr<connection> over);
  [[nodiscard]] std::map<int, tree_link>& all() noexcept { return links_; }
  [[nodiscard]] const std::map<int, tree_link>& all() const noexcept { return links_; }
  [[nodiscard]] tree_link* find(int pe);

  /// Sends a message to the neighbour on the way to its PE.
  void send(const outgoing_message& message);
  /// Sends a message to all neighbours but `except`.
  void send_to_neighbours(const outgoing_message& message, int except = -1);
  /// The same for a message that is better lost than kept for a neighbour that reads nothing.
  void offer(const outgoing_message& message);
  void offer_to_neighbours(const outgoing_message& message, int except = -1);

  /// The socket of a neighbour is writable. The reader.
  void on_writable(tree_link& to);
  /// Goes on with queues, in each turn of the loop. The reader.
  void flush();
  /// When flush() has something to do. The reader.
  [[nodiscard]] std::optional<clock::time_point> next_flush() const noexcept { return try_again_; }
  /// Ends the sending direction of each connection once all is sent. Whether that is done. The reader.
  [[nodiscard]] bool finish();

 private:
  void send_over(tree_link& to, const outgoing_message& message);
  void act(tree_link& of, packet_queue::state after);
  [[nodiscard]] std::size_t most_offered() const noexcept;

  event_loop& loop_;
  const int me_;
  const group_tree tree_;
  const std::function<void(int, int)> on_problem_;
  const std::size_t n_;
  std::map<int, tree_link> links_;

  std::mutex mutex_;                            ///< guards what follows
  std::vector<tree_link*> waiting_;             ///< whose queues have got packets
  std::vector<tree_link*> crowded_;             ///< the reader's: tried again soon
  std::optional<clock::time_point> try_again_;  ///< the reader's
};

}  // namespace pgas::detail
