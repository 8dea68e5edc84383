#include "support/transport/faulty.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "host/transport/transport.hpp"

namespace pgas::testing {
namespace {

/// In the target, the parts of an operation begin at multiples of this number, so that words for which programs wait
/// are not torn.
constexpr std::size_t part_alignment = 64;

}  // namespace

faulty_transport::faulty_transport(std::unique_ptr<detail::transport> inner, const faulty_settings& settings)
    : inner_(std::move(inner)), settings_(settings), random_(settings.seed) {}

void faulty_transport::connect(std::vector<blob> addresses, detail::transport_events& events) {
  lost_.resize(addresses.size());
  events_ = &events;
  inner_->connect(std::move(addresses), *this);
}

std::optional<detail::exposed_memory> faulty_transport::expose(void* address, std::size_t bytes, std::string& why_not) {
  return inner_->expose(address, bytes, why_not);
}

std::uint64_t faulty_transport::import_memory(int pe, std::span<const std::byte> key) {
  const std::uint64_t imported = inner_->import_memory(pe, key);
  owners_.emplace(imported, pe);
  return imported;
}

void faulty_transport::forget(std::uint64_t imported) noexcept {
  owners_.erase(imported);
  inner_->forget(imported);
}

int faulty_transport::owner_of(std::uint64_t imported) const {
  const auto found = owners_.find(imported);
  if (found == owners_.end()) throw error{code::transport_failed, "a put or get names memory that is not imported"};
  return found->second;
}

// ---- operations

bool faulty_transport::admit(int pe) {
  if (lost_[static_cast<std::size_t>(pe)]) return false;
  if (pe != settings_.victim || to_victim_++ < settings_.fail_after) return true;
  if (!fails_at_) fails_at_ = calls_ + settings_.delay + 1;
  return false;
}

std::uint64_t faulty_transport::begin(int pe, detail::transport_token token, int parts) {
  operations_.emplace(next_operation_, operation{pe, token, parts});
  return next_operation_++;
}

void faulty_transport::delay(delayed item) {
  item.due = calls_ + random_() % (settings_.delay + 1);
  delayed_.push_back(std::move(item));
}

void faulty_transport::put(std::uint64_t imported, std::uint64_t offset, const void* local, std::size_t bytes,
                           detail::transport_token token) {
  const int pe = owner_of(imported);
  if (!admit(pe)) return;
  auto* const from = static_cast<std::byte*>(const_cast<void*>(local));  // the memory is only read
  std::size_t first = bytes == 0 ? 0 : random_() % bytes;
  first -= std::min<std::size_t>(first, (offset + first) % part_alignment);
  const std::uint64_t id = begin(pe, token, first == 0 ? 1 : 2);
  delay({kind::put, pe, 0, imported, offset + first, from + first, bytes - first, id});
  if (first != 0) delay({kind::put, pe, 0, imported, offset, from, first, id});
}

void faulty_transport::get(std::uint64_t imported, std::uint64_t offset, void* local, std::size_t bytes,
                           detail::transport_token token) {
  const int pe = owner_of(imported);
  if (admit(pe))
    delay({kind::get, pe, 0, imported, offset, static_cast<std::byte*>(local), bytes, begin(pe, token, 1)});
}

void faulty_transport::send(int pe, std::span<const std::byte> message, detail::transport_token token) {
  detail::check_message(pe, static_cast<int>(lost_.size()), message.size(), max_message());
  if (!admit(pe)) return;
  auto* const bytes = const_cast<std::byte*>(message.data());
  delay({kind::send, pe, 0, 0, 0, bytes, message.size(), begin(pe, token, 1)});
}

// ---- events

void faulty_transport::message(int from, std::span<const std::byte> bytes) {
  delayed item{kind::message, from, 0};
  item.message.assign(bytes.begin(), bytes.end());
  delay(std::move(item));
}

void faulty_transport::done(detail::transport_token token) {
  const auto found = operations_.find(token);
  if (found == operations_.end() || --found->second.parts > 0) return;
  delayed item{kind::done, found->second.pe, 0};
  item.operation = token;
  delay(std::move(item));
}

void faulty_transport::lost(int pe, const std::string& why) {
  if (pe == settings_.victim) fails_at_.reset();
  if (lost_[static_cast<std::size_t>(pe)]) return;
  lost_[static_cast<std::size_t>(pe)] = true;
  std::erase_if(delayed_, [&](const delayed& item) { return item.pe == pe; });
  std::erase_if(operations_, [&](const auto& item) { return item.second.pe == pe; });
  events_->lost(pe, why);
}

// ---- release

void faulty_transport::release(const delayed& item) {
  if (lost_[static_cast<std::size_t>(item.pe)]) return;
  switch (item.what) {
    case kind::put: inner_->put(item.imported, item.offset, item.local, item.bytes, item.operation); break;
    case kind::get: inner_->get(item.imported, item.offset, item.local, item.bytes, item.operation); break;
    case kind::send: inner_->send(item.pe, {item.local, item.bytes}, item.operation); break;
    case kind::message: events_->message(item.pe, item.message); break;
    case kind::done: {
      const detail::transport_token token = operations_.at(item.operation).token;
      operations_.erase(item.operation);
      events_->done(token);
      break;
    }
  }
}

bool faulty_transport::progress() {
  if (events_ == nullptr) return false;
  ++calls_;
  const bool busy = inner_->progress();
  if (fails_at_ && calls_ >= *fails_at_) lost(settings_.victim, "made to fail by the faulty transport");

  std::vector<delayed> due;
  const auto later =
      std::partition(delayed_.begin(), delayed_.end(), [&](const delayed& item) { return item.due > calls_; });
  std::move(later, delayed_.end(), std::back_inserter(due));
  delayed_.erase(later, delayed_.end());
  std::shuffle(due.begin(), due.end(), random_);
  for (const delayed& item : due) release(item);
  return busy || !due.empty() || !delayed_.empty();
}

void faulty_transport::wait(std::chrono::nanoseconds limit) {
  if (delayed_.empty() && !fails_at_) inner_->wait(limit);
}

void faulty_transport::disconnect(std::chrono::milliseconds limit) noexcept {
  delayed_.clear();
  events_ = nullptr;
  inner_->disconnect(limit);
}

}  // namespace pgas::testing
