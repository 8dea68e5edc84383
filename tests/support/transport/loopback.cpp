#include "support/transport/loopback.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace pgas::testing {

loopback_network::loopback_network(int n_pes) {
  if (n_pes < 1)
    throw error{code::invalid_argument, fmt::format("a loopback network of {} PEs: give 1 or more", n_pes)};
  for (int pe = 0; pe < n_pes; ++pe) pes_.push_back(std::make_unique<pe_state>());
  joined_.resize(pes_.size());
}

std::unique_ptr<detail::transport> loopback_network::join(int pe) {
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
    at(other).changed.notify_one();
    victim.inbox.push_back({other, true, {}, "the connection was cut"});
  }
  victim.changed.notify_one();
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

loopback_network::outcome loopback_network::route_state(int from, int to) {
  if (from != to && (at(from).now == presence::cut || at(to).now == presence::cut)) return outcome::cut;
  return at(to).now == presence::left ? outcome::left : outcome::arrived;
}

loopback_network::outcome loopback_network::copy(direction which, int from, int to, std::uint64_t id,
                                                 std::uint64_t offset, std::byte* local, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (const outcome open = route_state(from, to); open != outcome::arrived) return open;
  const auto found = at(to).exposed.find(id);
  if (found == at(to).exposed.end()) return outcome::left;
  if (bytes == 0) return outcome::arrived;
  std::byte* const remote = found->second.data() + offset;
  if (which == direction::put)
    std::memcpy(remote, local, bytes);
  else
    std::memcpy(local, remote, bytes);
  return outcome::arrived;
}

loopback_network::outcome loopback_network::send(int from, int to, std::span<const std::byte> message) {
  const std::lock_guard lock(mutex_);
  if (const outcome open = route_state(from, to); open != outcome::arrived) return open;
  at(to).inbox.push_back({from, false, blob(message.begin(), message.end()), {}});
  at(to).changed.notify_one();
  return outcome::arrived;
}

std::deque<loopback_network::inbox_entry> loopback_network::take(int pe) {
  const std::lock_guard lock(mutex_);
  return std::exchange(at(pe).inbox, {});
}

void loopback_network::wait(int pe, std::chrono::nanoseconds limit) {
  std::unique_lock lock(mutex_);
  pe_state& me = at(pe);
  me.changed.wait_for(lock, limit, [&] { return me.woken || !me.inbox.empty(); });
  me.woken = false;
}

void loopback_network::wake(int pe) noexcept {
  const std::lock_guard lock(mutex_);
  at(pe).woken = true;
  at(pe).changed.notify_one();
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

// ---- the transport of one PE

namespace {

constexpr std::size_t chunk_bytes = 96 << 10;
constexpr int chunks_per_call = 8;

struct memory_key {
  std::uint64_t id;
  std::uint64_t bytes;
};

template <class Pod>
[[nodiscard]] blob bytes_of(const Pod& pod) {
  blob bytes(sizeof pod);
  std::memcpy(bytes.data(), &pod, sizeof pod);
  return bytes;
}

}  // namespace

loopback_transport::loopback_transport(std::shared_ptr<loopback_network> network, int pe)
    : network_(std::move(network)), pe_(pe), lost_(static_cast<std::size_t>(network_->n_pes())) {}

loopback_transport::~loopback_transport() { network_->gone(pe_); }

blob loopback_transport::address() const { return bytes_of(pe_); }

void loopback_transport::connect(std::vector<blob> addresses, detail::transport_events& events) {
  if (addresses.size() != lost_.size())
    throw error{code::transport_failed,
                fmt::format("a loopback network of {} PEs was given {} addresses", lost_.size(), addresses.size())};
  for (int pe = 0; pe < network_->n_pes(); ++pe) {
    if (addresses[static_cast<std::size_t>(pe)] != bytes_of(pe))
      throw error{code::transport_failed, fmt::format("this is not the address of PE {} in a loopback network", pe),
                  pe};
  }
  events_ = &events;
}

std::string loopback_transport::route(int pe) const {
  return events_ != nullptr && pe >= 0 && pe < network_->n_pes() ? "memory" : "";
}

std::optional<detail::exposed_memory> loopback_transport::expose(void* address, std::size_t bytes, std::string&) {
  const std::uint64_t id = network_->expose(pe_, static_cast<std::byte*>(address), bytes);
  return detail::exposed_memory{id, bytes_of(memory_key{id, bytes})};
}

void loopback_transport::withdraw(const detail::exposed_memory& memory) noexcept { network_->withdraw(pe_, memory.id); }

std::uint64_t loopback_transport::import_memory(int pe, std::span<const std::byte> key) {
  memory_key fields{};
  if (key.size() == sizeof fields) std::memcpy(&fields, key.data(), sizeof fields);
  if (pe < 0 || pe >= network_->n_pes() || !network_->exposes(pe, fields.id, fields.bytes))
    throw error{code::handle_invalid,
                fmt::format("{} bytes that came as a key of PE {} name no memory that it has exposed", key.size(), pe),
                pe};
  imported_.emplace(next_import_, imported_memory{pe, fields.id, fields.bytes});
  return next_import_++;
}

void loopback_transport::forget(std::uint64_t imported) noexcept { imported_.erase(imported); }

void loopback_transport::check_connected() const {
  if (events_ == nullptr) throw error{code::transport_failed, "the loopback transport is used before connect()"};
}

void loopback_transport::start_copy(loopback_network::direction which, std::uint64_t imported, std::uint64_t offset,
                                    std::byte* local, std::size_t bytes, detail::transport_token token) {
  check_connected();
  const auto found = imported_.find(imported);
  if (found == imported_.end()) throw error{code::transport_failed, "a put or get names memory that is not imported"};
  const imported_memory& memory = found->second;
  detail::check_range(memory.pe, offset, bytes, memory.bytes);
  if (!is_lost(memory.pe)) operations_.push_back({memory.pe, which, memory.id, offset, local, bytes, token});
}

void loopback_transport::put(std::uint64_t imported, std::uint64_t offset, const void* local, std::size_t bytes,
                             detail::transport_token token) {
  // The memory is only read, because the direction is put.
  auto* const from = static_cast<std::byte*>(const_cast<void*>(local));
  start_copy(loopback_network::direction::put, imported, offset, from, bytes, token);
}

void loopback_transport::get(std::uint64_t imported, std::uint64_t offset, void* local, std::size_t bytes,
                             detail::transport_token token) {
  start_copy(loopback_network::direction::get, imported, offset, static_cast<std::byte*>(local), bytes, token);
}

void loopback_transport::send(int pe, std::span<const std::byte> message, detail::transport_token token) {
  check_connected();
  detail::check_message(pe, network_->n_pes(), message.size(), max_message());
  auto* const bytes = const_cast<std::byte*>(message.data());
  if (!is_lost(pe)) operations_.push_back({pe, std::nullopt, 0, 0, bytes, message.size(), token});
}

void loopback_transport::lose(int pe, const std::string& why) {
  if (is_lost(pe)) return;
  lost_[static_cast<std::size_t>(pe)] = true;
  std::erase_if(operations_, [&](const operation& item) { return item.pe == pe; });
  events_->lost(pe, why);
}

bool loopback_transport::read_inbox() {
  const auto entries = network_->take(pe_);
  for (const loopback_network::inbox_entry& item : entries) {
    if (item.lost)
      lose(item.from, item.why);
    else if (!is_lost(item.from))
      events_->message(item.from, item.bytes);
  }
  return !entries.empty();
}

void loopback_transport::advance() {
  operation now = operations_.front();
  operations_.pop_front();
  loopback_network::outcome outcome{};
  if (now.memory) {
    const std::size_t chunk = std::min(chunk_bytes, now.bytes - now.done);
    outcome = network_->copy(*now.memory, pe_, now.pe, now.id, now.offset + now.done, now.local + now.done, chunk);
    now.done += chunk;
  } else {
    outcome = network_->send(pe_, now.pe, std::span(now.local, now.bytes));
    now.done = now.bytes;
  }
  if (outcome == loopback_network::outcome::left)
    lose(now.pe, "it has disconnected, or withdrawn the memory");
  else if (outcome == loopback_network::outcome::arrived && now.done == now.bytes)
    events_->done(now.token);
  else if (outcome == loopback_network::outcome::arrived)
    operations_.push_back(now);
}

bool loopback_transport::progress() {
  if (events_ == nullptr || left_) return false;
  bool busy = read_inbox();
  for (int chunk = 0; chunk < chunks_per_call && !operations_.empty(); ++chunk) {
    advance();
    busy = true;
  }
  return busy;
}

void loopback_transport::wait(std::chrono::nanoseconds limit) {
  if (operations_.empty()) network_->wait(pe_, limit);
}

void loopback_transport::wake() noexcept { network_->wake(pe_); }

void loopback_transport::disconnect(std::chrono::milliseconds) noexcept {
  left_ = true;
  operations_.clear();
  network_->leave(pe_);
}

}  // namespace pgas::testing
