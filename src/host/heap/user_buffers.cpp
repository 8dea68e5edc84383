#include "host/heap/user_buffers.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "host/heap/collective_step.hpp"
#include "host/heap/shared_segment.hpp"
#include "host/log/format_bytes.hpp"

namespace pgas::detail {

namespace {

/// Pieces of the program's memory that the device holds, until each is passed on.
class held_pieces {
 public:
  explicit held_pieces(device& device) : device_(device) {}
  ~held_pieces() {
    for (std::size_t i = passed_; i < pieces_.size(); ++i) device_.destroy(pieces_[i].segment);
  }
  held_pieces(const held_pieces&) = delete;
  held_pieces& operator=(const held_pieces&) = delete;

  void hold(std::vector<external_segment> pieces) { pieces_ = std::move(pieces); }
  [[nodiscard]] const std::vector<external_segment>& all() const noexcept { return pieces_; }
  [[nodiscard]] segment_id pass_on() { return pieces_[passed_++].segment; }

 private:
  device& device_;
  std::vector<external_segment> pieces_;
  std::size_t passed_ = 0;
};

/// A number that differs where the sizes do (FNV-1a).
std::uint64_t digest(const std::vector<external_segment>& pieces) {
  std::uint64_t sum = 14695981039346656037u;
  for (const external_segment& piece : pieces) sum = (sum ^ piece.bytes) * 1099511628211u;
  return sum;
}

}  // namespace

void* user_buffers::add(void* pointer, std::size_t bytes) {
  held_pieces held(ground_.device);
  step_result mine;
  mine.call = {collective_step::kind::adopt, 0, bytes, 0, collective_step::nowhere};
  mine.failure = attempt(group_, fmt::format("register {} at {}", format_bytes(bytes), pointer), [&] {
    if (pointer == nullptr || bytes == 0) throw error(code::invalid_argument, "there is no memory");
    const std::uint64_t unit = ground_.terms.unit;
    if (bytes % unit != 0)
      throw error(code::invalid_argument, fmt::format("the size is not a multiple of {}", format_bytes(unit)));
    const auto offset =
        reinterpret_cast<std::uintptr_t>(pointer) - reinterpret_cast<std::uintptr_t>(ground_.reach.slots.slot(0));
    if (offset < ground_.reach.slots.stride() * static_cast<std::size_t>(ground_.reach.near.largest()))
      throw error(code::invalid_argument, "it is symmetric memory already");
    held.hold(ground_.device.retain(pointer, bytes, ground_.kind));
    for (const external_segment& piece : held.all())
      if (piece.bytes % unit != 0)
        throw error(code::invalid_argument, fmt::format("a piece of {} is not a multiple of {}",
                                                        format_bytes(piece.bytes), format_bytes(unit)));
  });
  if (!mine.failure) {
    mine.call.alignment = held.all().size();
    mine.call.offset = digest(held.all());
  }
  const std::vector<step_result> all = exchange(group_, mine);
  if (const std::optional<error> failed = first_failure(all)) throw error(*failed);
  if (const std::optional<error> different = asymmetry(all)) throw error(*different);

  const std::optional<std::size_t> at = team_segments_.reserve(group_, bytes);
  if (!at)
    throw error(code::out_of_memory,
                fmt::format("the slots have no addresses left for {} more of registered memory: raise PGAS_HEAP_STRIDE",
                            format_bytes(bytes)));
  std::vector<std::unique_ptr<shared_segment>> segments;
  try {
    std::size_t done = 0;
    for (const external_segment& piece : held.all()) {
      sharing_plan plan{ground_.reach, *at + done, piece.bytes, ground_.kind, mine.call, std::nullopt, held.pass_on()};
      sharing_result shared = share_segment(ground_.device, group_, plan);
      if (!shared.segment) throw error(*shared.failures.front().failure);
      segments.push_back(std::move(shared.segment));
      done += piece.bytes;
    }
  } catch (...) {
    segments.clear();
    team_segments_.remove(*at);
    throw;
  }
  team_segments_.add(*at, group_, std::move(segments));
  offsets_.insert(*at);
  ground_.reach.barrier_if_proxied(group_);
  return my_slot() + *at;
}

void user_buffers::remove(void* alias) {
  step_result mine;
  mine.call.what = collective_step::kind::disown;
  if (alias != nullptr) {
    mine.call.offset = reinterpret_cast<std::uintptr_t>(alias) - reinterpret_cast<std::uintptr_t>(my_slot());
    mine.failure = attempt(group_, fmt::format("unregister {}", alias), [&] {
      if (!offsets_.contains(mine.call.offset))
        throw error(code::invalid_free, "no registration starts there: was it unregistered before?");
    });
  }
  // The barrier after which nobody uses the memory any more.
  const std::vector<step_result> all = exchange(group_, mine);
  if (const std::optional<error> failed = first_failure(all)) throw error(*failed);
  if (const std::optional<error> different = asymmetry(all)) throw error(*different);
  if (alias == nullptr) return;
  offsets_.erase(mine.call.offset);
  team_segments_.remove(mine.call.offset);
}

}  // namespace pgas::detail
