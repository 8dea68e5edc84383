#include "host/connect/tree_links.hpp"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <tuple>
#include <utility>

namespace pgas::detail {

namespace {

/// The pause before another attempt, if Linux lacks memory or has too many descriptors in flight.
constexpr milliseconds pause_in_crowd{1};

}  // namespace

tree_links::tree_links(event_loop& loop, const peer_table& peers, std::map<int, peer_socket> sockets,
                       std::function<void(int, int)> on_problem)
    : loop_(loop),
      peers_(peers),
      layout_(std::make_shared<group_layout>(peers.hosts)),
      tree_(layout_, peers.me),
      on_problem_(std::move(on_problem)) {
  for (auto& [pe, socket] : sockets) {
    std::unique_ptr<connection> over;
    if (socket.keys) {
      over = std::make_unique<tcp_connection>(std::move(socket.fd), *socket.keys);
    } else {
      buffer_.resize(sizeof(control_header) + max_packet);
      over = std::make_unique<unix_connection>(std::move(socket.fd), buffer_);
    }
    links_.emplace(std::piecewise_construct, std::forward_as_tuple(pe),
                   std::forward_as_tuple(pe, std::move(over), !peers.on_this_host(pe)));
  }
}

tree_link* tree_links::find(int pe) {
  const auto found = links_.find(pe);
  return found == links_.end() ? nullptr : &found->second;
}

void tree_links::send(const outgoing_message& message) {
  if (tree_link* const to = find(tree_.next_hop(message.header.to))) send_over(*to, message);
}

void tree_links::send_to_neighbours(const outgoing_message& message, int except) {
  for (auto& [pe, to] : links_)
    if (pe != except) send_over(to, message);
}

std::size_t tree_links::most_offered() const noexcept { return 64 + 2 * peers_.peers.size(); }

void tree_links::offer(const outgoing_message& message) {
  tree_link* const to = find(tree_.next_hop(message.header.to));
  if (to != nullptr && to->queue.waiting() < most_offered()) send_over(*to, message);
}

void tree_links::offer_to_neighbours(const outgoing_message& message, int except) {
  for (auto& [pe, to] : links_)
    if (pe != except && to.queue.waiting() < most_offered()) send_over(to, message);
}

bool tree_links::await_sent(const deadline& limit) {
  for (;;) {
    std::vector<pollfd> full;
    bool crowded = false;
    for (auto& [pe, to] : links_) {
      if (to.ended || to.queue.waiting() == 0) continue;
      switch (to.queue.send_waiting()) {
        case packet_queue::state::waiting: full.push_back({to.to->fd(), POLLOUT, 0}); break;
        case packet_queue::state::crowded: crowded = true; break;
        case packet_queue::state::sent:
        case packet_queue::state::closed: break;
      }
    }
    if (full.empty() && !crowded) return true;
    if (limit.expired()) return false;
    const milliseconds pause = crowded ? std::min(pause_in_crowd, limit.left()) : limit.left();
    static_cast<void>(::poll(full.data(), full.size(), static_cast<int>(pause.count())));
  }
}

void tree_links::send_over(tree_link& to, const outgoing_message& message) {
  const packet_queue::state after = to.queue.send(message);
  if (after == packet_queue::state::sent) return;
  if (after == packet_queue::state::closed) {
    const int why = to.queue.problem();
    if (why != EPIPE && why != ECONNRESET && on_problem_) on_problem_(to.pe, why);
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(&to);
  }
  loop_.wake();
}

void tree_links::act(tree_link& of, packet_queue::state after) {
  const bool waits = after == packet_queue::state::waiting;
  if (!of.ended) loop_.change(of.to->fd(), waits ? POLLIN | POLLOUT : POLLIN);
  if (after != packet_queue::state::crowded) return;
  crowded_.push_back(&of);
  try_again_ = clock::now() + pause_in_crowd;
}

void tree_links::on_writable(tree_link& to) { act(to, to.queue.send_waiting()); }

void tree_links::flush() {
  std::vector<tree_link*> now;
  {
    const std::lock_guard lock(mutex_);
    now.swap(waiting_);
  }
  if (try_again_ && clock::now() >= *try_again_) {
    try_again_.reset();
    now.insert(now.end(), crowded_.begin(), crowded_.end());
    crowded_.clear();
  }
  for (tree_link* const one : now) on_writable(*one);
}

bool tree_links::finish() {
  bool all = true;
  for (auto& [pe, one] : links_) {
    if (one.finished) continue;
    if (one.queue.waiting() != 0 && !one.ended)
      all = false;
    else if (!one.finished.exchange(true))
      one.to->finish();
  }
  return all;
}

}  // namespace pgas::detail
