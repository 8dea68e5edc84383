/// @file
/// The connections of a PE to its neighbours in the tree of the world, and the routing of messages along the tree.
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
#include "host/connect/connect_peers.hpp"
#include "host/connect/connection.hpp"
#include "host/connect/control_message.hpp"
#include "host/connect/group_tree.hpp"
#include "host/connect/peer_table.hpp"

namespace pgas::detail {

/// A neighbour in the tree of the world.
struct tree_link {
  tree_link(int of, std::unique_ptr<connection> over, bool between_hosts)
      : pe(of), to(std::move(over)), queue(*to), remote(between_hosts) {}

  const int pe;
  const std::unique_ptr<connection> to;  ///< open for the lifetime of this object, because any thread can be sending
  packet_queue queue;
  const bool remote;
  std::atomic<bool> departed{false};           ///< the neighbour has left; the end of its process is not a failure
  std::atomic<bool> ended{false};              ///< no further packets come from the neighbour
  std::atomic<bool> finished{false};           ///< this PE has ended its sending direction
  std::atomic<clock::time_point> last_seen{};  ///< the time of the last packet; written by the reader
};

/// Sending never blocks: packets that the socket of a neighbour does not accept yet wait in the queue of this
/// neighbour. *Callers* any thread, unless stated otherwise. The reader is the thread that runs the loop.
class tree_links {
 public:
  /// @param on_problem called with a neighbour and an errno if nothing can be sent to the neighbour. Not called if the
  /// neighbour has closed the connection. `loop` and `peers` must outlive the object
  tree_links(event_loop& loop, const peer_table& peers, std::map<int, peer_socket> sockets,
             std::function<void(int, int)> on_problem);

  [[nodiscard]] const group_tree& tree() const noexcept { return tree_; }
  /// The layout of all PEs.
  [[nodiscard]] const std::shared_ptr<const group_layout>& layout() const noexcept { return layout_; }
  [[nodiscard]] std::map<int, tree_link>& all() noexcept { return links_; }
  [[nodiscard]] const std::map<int, tree_link>& all() const noexcept { return links_; }
  [[nodiscard]] tree_link* find(int pe);

  /// Sends a message to the neighbour on the way to the receiver of the message.
  void send(const outgoing_message& message);
  /// Sends a message to all neighbours but `except`.
  void send_to_neighbours(const outgoing_message& message, int except = -1);
  /// As send(), but drops the message if the neighbour does not read.
  void offer(const outgoing_message& message);
  void offer_to_neighbours(const outgoing_message& message, int except = -1);

  /// Waits until the sockets have taken all packets, except packets to neighbours that have ended. Returns false if the
  /// limit has passed.
  [[nodiscard]] bool await_sent(const deadline& limit);

  /// Called when the socket of a neighbour is writable. *Callers* the reader.
  void on_writable(tree_link& to);
  /// Sends the waiting packets. Called in each turn of the loop. *Callers* the reader.
  void flush();
  /// The time at which flush() has work. *Callers* the reader.
  [[nodiscard]] std::optional<clock::time_point> next_flush() const noexcept { return try_again_; }
  /// Ends the sending direction of each connection whose packets were all sent. Returns whether all directions have
  /// ended. *Callers* the reader.
  [[nodiscard]] bool finish();

 private:
  void send_over(tree_link& to, const outgoing_message& message);
  void act(tree_link& of, packet_queue::state after);
  [[nodiscard]] std::size_t most_offered() const noexcept;

  event_loop& loop_;
  const peer_table& peers_;
  const std::shared_ptr<const group_layout> layout_;
  const group_tree tree_;
  const std::function<void(int, int)> on_problem_;
  std::vector<std::byte> buffer_;  ///< the reader's buffer for the packets of UNIX sockets
  std::map<int, tree_link> links_;

  std::mutex mutex_;                            ///< guards waiting_
  std::vector<tree_link*> waiting_;             ///< the neighbours whose queues contain packets
  std::vector<tree_link*> crowded_;             ///< the neighbours to which the reader will soon try to send again
  std::optional<clock::time_point> try_again_;  ///< the time of the next try; used by the reader
};

}  // namespace pgas::detail
