#include "host/transport/loopback/loopback.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "host/transport/checks.hpp"

namespace pgas::detail {
namespace {

constexpr std::size_t piece_bytes = 96 << 10;
constexpr int pieces_per_call = 8;

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

void loopback_transport::connect(std::vector<blob> addresses, transport_events& events) {
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

std::optional<exposed_memory> loopback_transport::expose(void* address, std::size_t bytes, std::string&) {
  const std::uint64_t id = network_->expose(pe_, static_cast<std::byte*>(address), bytes);
  return exposed_memory{id, bytes_of(memory_key{id, bytes})};
}

void loopback_transport::withdraw(const exposed_memory& memory) noexcept { network_->withdraw(pe_, memory.id); }

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

void loopback_transport::start_copy(loopback_network::direction way, std::uint64_t imported, std::uint64_t offset,
                                    std::byte* local, std::size_t bytes, transport_token token) {
  check_connected();
  const auto found = imported_.find(imported);
  if (found == imported_.end()) throw error{code::transport_failed, "a put or get names memory that is not imported"};
  const imported_memory& memory = found->second;
  check_range(memory.pe, offset, bytes, memory.bytes);
  if (!is_lost(memory.pe)) operations_.push_back({memory.pe, way, memory.id, offset, local, bytes, token});
}

void loopback_transport::put(std::uint64_t imported, std::uint64_t offset, const void* local, std::size_t bytes,
                             transport_token token) {
  // Only read from: the direction says so.
  auto* const from = static_cast<std::byte*>(const_cast<void*>(local));
  start_copy(loopback_network::direction::put, imported, offset, from, bytes, token);
}

void loopback_transport::get(std::uint64_t imported, std::uint64_t offset, void* local, std::size_t bytes,
                             transport_token token) {
  start_copy(loopback_network::direction::get, imported, offset, static_cast<std::byte*>(local), bytes, token);
}

void loopback_transport::send(int pe, std::span<const std::byte> message, transport_token token) {
  check_connected();
  check_message(pe, network_->n_pes(), message.size(), max_message());
  auto* const bytes = const_cast<std::byte*>(message.data());
  if (!is_lost(pe)) operations_.push_back({pe, std::nullopt, 0, 0, bytes, message.size(), token});
}

void loopback_transport::lose(int pe, const std::string& why) {
  if (is_lost(pe)) return;
  lost_[static_cast<std::size_t>(pe)] = true;
  std::erase_if(operations_, [&](const operation& one) { return one.pe == pe; });
  events_->lost(pe, why);
}

bool loopback_transport::open_inbox() {
  const auto parcels = network_->take(pe_);
  for (const loopback_network::parcel& one : parcels) {
    if (one.lost)
      lose(one.from, one.why);
    else if (!is_lost(one.from))
      events_->message(one.from, one.bytes);
  }
  return !parcels.empty();
}

void loopback_transport::carry_on() {
  operation now = operations_.front();
  operations_.pop_front();
  loopback_network::outcome outcome{};
  if (now.memory) {
    const std::size_t piece = std::min(piece_bytes, now.bytes - now.done);
    outcome = network_->copy(*now.memory, pe_, now.pe, now.id, now.offset + now.done, now.local + now.done, piece);
    now.done += piece;
  } else {
    outcome = network_->send(pe_, now.pe, std::span(now.local, now.bytes));
    now.done = now.bytes;
  }
  if (outcome == loopback_network::outcome::left)
    lose(now.pe, "it has left, or taken back the memory");
  else if (outcome == loopback_network::outcome::arrived && now.done == now.bytes)
    events_->done(now.token);
  else if (outcome == loopback_network::outcome::arrived)
    operations_.push_back(now);
}

bool loopback_transport::progress() {
  if (events_ == nullptr || left_) return false;
  bool busy = open_inbox();
  for (int piece = 0; piece < pieces_per_call && !operations_.empty(); ++piece) {
    carry_on();
    busy = true;
  }
  return busy;
}

void loopback_transport::wait(std::chrono::milliseconds limit) {
  if (operations_.empty()) network_->wait(pe_, limit);
}

void loopback_transport::wake() noexcept { network_->wake(pe_); }

void loopback_transport::disconnect(std::chrono::milliseconds) noexcept {
  left_ = true;
  operations_.clear();
  network_->leave(pe_);
}

}  // namespace pgas::detail
