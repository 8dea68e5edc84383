#include "support/transport/traced.hpp"

#include <utility>

namespace pgas::testing {

traced_transport::traced_transport(std::unique_ptr<detail::transport> inner, log::logger& log)
    : inner_(std::move(inner)), log_(log) {}

void traced_transport::connect(std::vector<blob> addresses, detail::transport_events& events) {
  log_.debug("transport {}: {} PEs, an address of {} bytes", name(), addresses.size(), address().size());
  traffic_.resize(addresses.size());
  events_ = &events;
  inner_->connect(std::move(addresses), *this);
}

std::optional<detail::exposed_memory> traced_transport::expose(void* address, std::size_t bytes, std::string& why_not) {
  auto memory = inner_->expose(address, bytes, why_not);
  if (memory)
    log_.debug("transport: exposes {} bytes at {} with a key of {} bytes", bytes, address, memory->key.size());
  else
    log_.debug("transport: does not expose {} bytes at {}: {}", bytes, address, why_not);
  return memory;
}

void traced_transport::withdraw(const detail::exposed_memory& memory) noexcept {
  log_.debug("transport: withdraws memory {}", memory.id);
  inner_->withdraw(memory);
}

std::uint64_t traced_transport::import_memory(int pe, std::span<const std::byte> key) {
  const std::uint64_t imported = inner_->import_memory(pe, key);
  owners_.emplace(imported, pe);
  log_.debug("transport: imports memory {} of PE {}", imported, pe);
  return imported;
}

void traced_transport::forget(std::uint64_t imported) noexcept {
  log_.debug("transport: forgets memory {}", imported);
  owners_.erase(imported);
  inner_->forget(imported);
}

// Counted after the inner transport has accepted the operation.

void traced_transport::put(std::uint64_t imported, std::uint64_t offset, const void* local, std::size_t bytes,
                           detail::transport_token token) {
  inner_->put(imported, offset, local, bytes, token);
  const int pe = owners_.at(imported);
  at(pe).puts += 1;
  at(pe).put_bytes += bytes;
  log_.debug("transport: put {}: {} bytes to PE {}, memory {} + {}", token, bytes, pe, imported, offset);
}

void traced_transport::get(std::uint64_t imported, std::uint64_t offset, void* local, std::size_t bytes,
                           detail::transport_token token) {
  inner_->get(imported, offset, local, bytes, token);
  const int pe = owners_.at(imported);
  at(pe).gets += 1;
  at(pe).get_bytes += bytes;
  log_.debug("transport: get {}: {} bytes of PE {}, memory {} + {}", token, bytes, pe, imported, offset);
}

void traced_transport::send(int pe, std::span<const std::byte> message, detail::transport_token token) {
  inner_->send(pe, message, token);
  at(pe).sent += 1;
  at(pe).sent_bytes += message.size();
  log_.debug("transport: message {}: {} bytes to PE {}", token, message.size(), pe);
}

void traced_transport::disconnect(std::chrono::milliseconds limit) noexcept {
  log_.debug("transport: disconnects, within {} ms", limit.count());
  inner_->disconnect(limit);
}

void traced_transport::message(int from, std::span<const std::byte> bytes) {
  at(from).received += 1;
  at(from).received_bytes += bytes.size();
  log_.debug("transport: message of {} bytes from PE {}", bytes.size(), from);
  events_->message(from, bytes);
}

void traced_transport::done(detail::transport_token token) {
  log_.debug("transport: {} is done", token);
  events_->done(token);
}

void traced_transport::lost(int pe, const std::string& why) {
  log_.debug("transport: PE {} is lost: {}", pe, why);
  events_->lost(pe, why);
}

}  // namespace pgas::testing
