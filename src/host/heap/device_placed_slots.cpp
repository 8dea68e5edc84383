#include "host/heap/device_placed_slots.hpp"

#include <fmt/format.h>

#include <cstring>
#include <optional>

#include "host/exchange/collective_step.hpp"
#include "host/log/format_bytes.hpp"
#include "host/topology/find_domains.hpp"

namespace pgas::detail {

device_placed_slots::device_placed_slots(device& device, const control_group& everyone, const domains& domains,
                                         handle_kind kind, std::size_t bytes, std::size_t alignment)
    : device_(device), addresses_(domains.members().size()) {
  const int me = everyone.my_pe();
  const std::size_t whole = bytes + alignment - unit;
  const auto slot_of = [&](int pe) -> std::byte*& { return addresses_[static_cast<std::size_t>(domains.index(pe))]; };
  own_.reserve(1);
  imported_.reserve(addresses_.size());
  try {
    step_result mine;
    mine.call = {collective_step::kind::probe, 0, bytes, alignment, collective_step::nowhere};
    mine.failure = attempt(
        everyone,
        fmt::format("create its whole heap of {} in one step, to share it by {} (PGAS_HEAP_LIMIT makes it smaller)",
                    format_bytes(whole), to_string(kind)),
        [&] {
          own_.push_back(device_.create(whole, kind));
          std::byte* const start = start_of(own_.front());
          const std::uint64_t skipped = -reinterpret_cast<std::uintptr_t>(start) & (alignment - 1);
          slot_of(me) = start + skipped;
          mine.key.resize(sizeof skipped);
          std::memcpy(mine.key.data(), &skipped, sizeof skipped);
          if (domains.members().size() > 1) mine.handle = device_.export_segment(own_.front());
        });
    const std::vector<step_result> all = exchange(everyone, mine);
    check_step(all);

    step_result outcome;
    outcome.call = mine.call;
    for (const int pe : domains.members()) {
      if (pe == me || outcome.failure) continue;
      outcome.failure = attempt(everyone, fmt::format("import the heap of PE {}", pe), [&] {
        const step_result& theirs = all[static_cast<std::size_t>(pe)];
        std::uint64_t skipped = alignment;
        if (theirs.key.size() == sizeof skipped) std::memcpy(&skipped, theirs.key.data(), sizeof skipped);
        if (skipped >= alignment || skipped % unit != 0)
          throw error(code::handle_invalid, "it does not say where its slot starts");
        imported_.push_back(device_.import_segment(theirs.handle, whole));
        slot_of(pe) = start_of(imported_.back()) + skipped;
      });
    }
    if (const std::optional<error> failed = agree_on_step(everyone, outcome.call, outcome.failure).failure) {
      close_peers();
      everyone.barrier();  // an owner frees its block after all PEs have closed it
      throw error(*failed);
    }
  } catch (...) {
    release();
    throw;
  }
}

device_placed_slots::~device_placed_slots() { release(); }

std::byte* device_placed_slots::start_of(segment_id segment) const {
  auto* const at = static_cast<std::byte*>(device_.address_of(segment));
  if (reinterpret_cast<std::uintptr_t>(at) % unit != 0)
    throw error(code::address_space, fmt::format("the device placed it at {}, which is not a multiple of {}",
                                                 fmt::ptr(at), format_bytes(unit)));
  return at;
}

void device_placed_slots::close_peers() noexcept {
  for (; !imported_.empty(); imported_.pop_back()) device_.destroy(imported_.back());
}

void device_placed_slots::release() noexcept {
  close_peers();
  for (; !own_.empty(); own_.pop_back()) device_.destroy(own_.back());
}

}  // namespace pgas::detail
