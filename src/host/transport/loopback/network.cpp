#include "host/transport/loopback/network.hpp"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "host/transport/loopback/loopback.hpp"

namespace pgas::detail {

loopback_network::loopback_network(int n_pes) {
  if (n_pes < 1)
    throw error{code::invalid_argument, fmt::format("a loopback network of {} PEs: give 1 or more", n_pes)};
  for (int pe = 0; pe < n_pes; ++pe) pes_.push_back(std::make_unique<pe_state>());
  joined_.resize(pes_.size());
}

std::unique_ptr<transport> loopback_network::join(int pe) {
  if (pe < 0 || pe >= n_pes())
    throw error{code::pe_out_of_range, fmt::format("PE {} joins a loopback network of {} PEs", pe, n_pes()), pe};
  {
    const std::lock_guard lock(mutex_);
    if (joined_[static_cast<std::size_t>(pe)])
      throw error{code::invalid_argument, fmt::format("PE {} joins its loopback network twice", pe), pe};
    joined_[static_cast<std::size_t>(pe)] = true;
  }
  return std::make_unique<loopback_transport>(shared_from_this(), pe);
}

void loopback_network::cut(int pe) {
  const std::lock_guard lock(mutex_);
  pe_state& victim = at(pe);
  if (victim.now != presence::here) return;
  victim.now = presence::cut;
  for (int other = 0; other < n_pes(); ++other) {
    if (other == pe || at(other).now != presence::here) continue;
    at(other).inbox.push_back({pe, true, {}, "the connection was cut"});
    at(other).news.notify_one();
    victim.inbox.push_back({other, true, {}, "the connection was cut"});
  }
  victim.news.notify_one();
}

std::uint64_t loopback_network::expose(int pe, std::byte* address, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  at(pe).exposed.emplace(next_id_, std::span(address, bytes));
  return next_id_++;
}

void loopback_network::withdraw(int pe, std::uint64_t id) {
  const std::lock_guard lock(mutex_);
  at(pe).exposed.erase(id);
}

bool loopback_network::exposes(int pe, std::uint64_t id, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto found = at(pe).exposed.find(id);
  return found != at(pe).exposed.end() && found->second.size() == bytes;
}

loopback_network::outcome loopback_network::way_to(int from, int to) {
  if (from != to && (at(from).now == presence::cut || at(to).now == presence::cut)) return outcome::cut;
  return at(to).now == presence::left ? outcome::left : outcome::arrived;
}

loopback_network::outcome loopback_network::copy(direction way, int from, int to, std::uint64_t id,
                                                 std::uint64_t offset, std::byte* local, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (const outcome open = way_to(from, to); open != outcome::arrived) return open;
  const auto found = at(to).exposed.find(id);
  if (found == at(to).exposed.end()) return outcome::left;
  if (bytes == 0) return outcome::arrived;
  std::byte* const remote = found->second.data() + offset;
  if (way == direction::put)
    std::memcpy(remote, local, bytes);
  else
    std::memcpy(local, remote, bytes);
  return outcome::arrived;
}

loopback_network::outcome loopback_network::send(int from, int to, std::span<const std::byte> message) {
  const std::lock_guard lock(mutex_);
  if (const outcome open = way_to(from, to); open != outcome::arrived) return open;
  at(to).inbox.push_back({from, false, blob(message.begin(), message.end()), {}});
  at(to).news.notify_one();
  return outcome::arrived;
}

std::deque<loopback_network::parcel> loopback_network::take(int pe) {
  const std::lock_guard lock(mutex_);
  return std::exchange(at(pe).inbox, {});
}

void loopback_network::wait(int pe, std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  pe_state& me = at(pe);
  me.news.wait_for(lock, limit, [&] { return me.woken || !me.inbox.empty(); });
  me.woken = false;
}

void loopback_network::wake(int pe) noexcept {
  const std::lock_guard lock(mutex_);
  at(pe).woken = true;
  at(pe).news.notify_one();
}

void loopback_network::leave(int pe) noexcept {
  const std::lock_guard lock(mutex_);
  if (at(pe).now == presence::here) at(pe).now = presence::left;
}

void loopback_network::gone(int pe) noexcept {
  cut(pe);
  const std::lock_guard lock(mutex_);
  at(pe).exposed.clear();
}

}  // namespace pgas::detail
