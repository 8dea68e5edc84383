#include "host/heap/registered_buffers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "host/log/format_bytes.hpp"
#include "host/topology/find_domains.hpp"

namespace pgas::detail {

namespace {

/// Segments of the program's memory. The object owns each segment until a group_segment takes ownership of it.
class held_segments {
 public:
  explicit held_segments(device& device) : device_(device) {}
  ~held_segments() {
    for (std::size_t i = taken_; i < segments_.size(); ++i) device_.destroy(segments_[i].segment);
  }
  held_segments(const held_segments&) = delete;
  held_segments& operator=(const held_segments&) = delete;

  void hold(std::vector<external_segment> segments) { segments_ = std::move(segments); }
  [[nodiscard]] const std::vector<external_segment>& all() const noexcept { return segments_; }
  [[nodiscard]] segment_id take_next() { return segments_[taken_++].segment; }

 private:
  device& device_;
  std::vector<external_segment> segments_;
  std::size_t taken_ = 0;
};

/// A number that depends on the sizes (FNV-1a).
std::uint64_t digest(const std::vector<external_segment>& segments) {
  std::uint64_t sum = 14695981039346656037u;
  for (const external_segment& segment : segments) sum = (sum ^ segment.bytes) * 1099511628211u;
  return sum;
}

/// The largest number of offsets that a member reports in one exchange. The next exchange reports the rest.
constexpr std::size_t most_told = 512;

}  // namespace

void* registered_buffers::add(void* pointer, std::size_t bytes, released_flag released, const void* preferred) {
  held_segments held(exchange_.device());
  step_result mine;
  mine.call = {collective_step::kind::add_buffer, 0, bytes, 0, collective_step::nowhere};
  mine.failure = attempt(group_, fmt::format("register {} at {}", format_bytes(bytes), pointer), [&] {
    if (pointer == nullptr || bytes == 0) throw error(code::invalid_argument, "there is no memory");
    if (exchange_.slots().has_memory())
      throw error(code::handle_exchange,
                  fmt::format("the heap shares memory by {}, and processes can't choose the address of such memory, so "
                              "external memory can't be mapped into the slots: use world::allocate(), or "
                              "pgas::shared_memory, or another PGAS_MEM_HANDLE if available",
                              to_string(exchange_.kind())));
    const std::uint64_t unit = parameters_.unit;
    if (bytes % unit != 0)
      throw error(
          code::invalid_argument,
          fmt::format(
              "{} bytes are not a multiple of {}: pass whole allocations, as shared_memory::make() rounds them up",
              bytes, format_bytes(unit)));
    const auto offset =
        reinterpret_cast<std::uintptr_t>(pointer) - reinterpret_cast<std::uintptr_t>(exchange_.slots().slot(0));
    if (offset < exchange_.slots().bytes()) throw error(code::invalid_argument, "it is already symmetric memory");
    held.hold(exchange_.device().retain(pointer, bytes, exchange_.kind()));
    for (const external_segment& segment : held.all())
      if (segment.bytes % unit != 0)
        throw error(code::invalid_argument, fmt::format("a segment of {} is not a multiple of {}",
                                                        format_bytes(segment.bytes), format_bytes(unit)));
  });
  if (!mine.failure) {
    mine.call.alignment = held.all().size();
    mine.call.offset = digest(held.all());
  }
  check_step(agree(mine));

  const auto wish = reinterpret_cast<std::uintptr_t>(preferred) - reinterpret_cast<std::uintptr_t>(own_slot());
  const std::optional<std::size_t> at = team_segments_.reserve(group_, bytes, wish);
  if (!at) throw error(no_addresses(bytes));
  std::vector<std::unique_ptr<group_segment>> segments;
  try {
    std::size_t done = 0;
    for (const external_segment& segment : held.all()) {
      step_result step;
      step.call = mine.call;
      segments.push_back(exchange_.create(group_, *at + done, segment.bytes, std::move(step), held.take_next()));
      done += segment.bytes;
    }
  } catch (...) {
    segments.clear();
    team_segments_.remove(*at);
    throw;
  }
  team_segments_.add(*at, group_, std::move(segments));
  buffers_[*at] = {bytes, std::move(released), std::vector<bool>(static_cast<std::size_t>(group_.n_pes()))};
  exchange_.barrier_if_proxied(group_);
  return own_slot() + *at;
}

void registered_buffers::remove(void* alias) {
  step_result mine;
  mine.call.what = collective_step::kind::remove_buffer;
  if (alias != nullptr) {
    mine.call.offset = reinterpret_cast<std::uintptr_t>(alias) - reinterpret_cast<std::uintptr_t>(own_slot());
    mine.failure = attempt(group_, fmt::format("unregister {}", alias), [&] {
      if (!buffers_.contains(mine.call.offset))
        throw error(code::invalid_free, "no registration starts there: was it already unregistered?");
    });
  }
  // This call is also a barrier. After the barrier no PE uses the memory.
  check_step(agree(mine));
  // If all members had already released the buffer, agree() has unmapped the buffer.
  if (alias != nullptr && buffers_.erase(mine.call.offset) != 0) team_segments_.remove(mine.call.offset);
}

std::size_t registered_buffers::collect() {
  const std::size_t before = buffers_.size();
  for (bool more = true; more;) {
    step_result mine;
    mine.call.what = collective_step::kind::collect;
    const step_agreement all = agree(mine);
    check_step(all);
    std::vector<std::size_t> told(static_cast<std::size_t>(group_.n_pes()));
    for (const member_word& member : all.words) ++told.at(static_cast<std::size_t>(member.member));
    more = std::ranges::find(told, most_told) != told.end();
  }
  return before - buffers_.size();
}

step_agreement registered_buffers::agree(const step_result& mine) {
  step_agreement all = agree_on_step(group_, mine.call, mine.failure, newly_released());
  bool any = false;
  for (const member_word& member : all.words)
    if (const auto told = buffers_.find(member.word); told != buffers_.end())
      any = told->second.released_by.at(static_cast<std::size_t>(member.member)) = true;
  if (any) end_where_all_released();
  return all;
}

std::vector<std::uint64_t> registered_buffers::newly_released() const {
  const auto me = static_cast<std::size_t>(group_.my_pe());
  std::vector<std::uint64_t> offsets;
  for (const auto& [offset, entry] : buffers_) {
    if (entry.released_by[me] || !entry.released || !entry.released->load(std::memory_order_acquire)) continue;
    offsets.push_back(offset);
    if (offsets.size() == most_told) break;
  }
  if (offsets.empty()) return offsets;
  try {
    exchange_.complete();
  } catch (const std::exception&) {
    offsets.clear();  // operations on the buffers may never complete; waits for the operations report the error
  }
  return offsets;
}

void registered_buffers::end_where_all_released() {
  for (auto entry = buffers_.begin(); entry != buffers_.end();) {
    const std::vector<bool>& by = entry->second.released_by;
    if (std::find(by.begin(), by.end(), false) != by.end()) {
      ++entry;
      continue;
    }
    team_segments_.remove(entry->first);
    entry = buffers_.erase(entry);
  }
}

void registered_buffers::clear() noexcept {
  for (const auto& [offset, entry] : buffers_) team_segments_.remove(offset);
  buffers_.clear();
}

registration_usage registered_buffers::usage() const {
  registration_usage now;
  for (const auto& [offset, entry] : buffers_) {
    ++now.registered;
    now.bytes += entry.bytes;
    if (entry.released && entry.released->load(std::memory_order_acquire)) ++now.released;
  }
  return now;
}

error registered_buffers::no_addresses(std::size_t bytes) const {
  std::string held;
  for (const auto& each : buffers_) {
    const auto& entry = each.second;
    const auto released = std::find(entry.released_by.begin(), entry.released_by.end(), true);
    if (released == entry.released_by.end()) continue;
    const auto holder = std::find(entry.released_by.begin(), entry.released_by.end(), false);
    const auto pe_of = [&](auto member) {
      return group_.world_pe(static_cast<int>(member - entry.released_by.begin()));
    };
    held = fmt::format("; PE {} has not released the registration of {} at heap offset {:#x}, which PE {} has released",
                       pe_of(holder), format_bytes(entry.bytes), each.first, pe_of(released));
    break;
  }
  return error(code::out_of_memory,
               fmt::format("the slots have no addresses left for {} of registered memory besides {} registrations of "
                           "this team{}: release some, or raise PGAS_HEAP_STRIDE",
                           format_bytes(bytes), buffers_.size(), held));
}

}  // namespace pgas::detail
