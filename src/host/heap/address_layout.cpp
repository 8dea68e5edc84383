#include "host/heap/address_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "host/connect/control_message.hpp"
#include "host/exchange/collective_step.hpp"
#include "host/exchange/control_group.hpp"
#include "host/log/format_bytes.hpp"

namespace pgas::detail {

namespace {

/// Base addresses outside the usual addresses of programs, libraries, stacks and allocators, on x86-64 and on arm64.
constexpr std::uintptr_t candidates[] = {0x2000'0000'0000, 0x3000'0000'0000, 0x4000'0000'0000, 0x1200'0000'0000};

bool aligned(const void* address, std::size_t alignment) {
  return (reinterpret_cast<std::uintptr_t>(address) & (alignment - 1)) == 0;
}

int log2_alignment(const void* address) { return std::countr_zero(reinterpret_cast<std::uintptr_t>(address)); }

}  // namespace

address_layout::address_layout(device& device, const control_group& group, int slots, std::size_t stride,
                               std::size_t least_stride, std::size_t alignment)
    : device_(device) {
  const auto n = static_cast<std::size_t>(slots);
  while (stride > least_stride && stride > most_addresses / n) stride /= 2;
  try {
    for (;; stride /= 2) {
      if (stride > most_addresses / n)
        throw error(code::address_space,
                    fmt::format("{} slots of {} are more addresses than a process has: lower PGAS_HEAP_STRIDE or "
                                "PGAS_HEAP_LIMIT",
                                n, format_bytes(stride)));
      log2_stride_ = std::countr_zero(stride);
      same_base_ = agree_on_base(group, n * stride, alignment);
      if (same_base_ || reserve_anywhere(group, n * stride, alignment, stride <= least_stride)) break;
    }
    std::int32_t log2 = std::min<std::int32_t>(log2_stride_, log2_alignment(base_));
    if (!same_base_) log2 = reduce_value(group, log2, [](std::int32_t a, std::int32_t b) { return std::min(a, b); });
    alignment_ = std::size_t{1} << log2;
    team_begin_ = stride / 2;
    slot_bytes_ = stride;
  } catch (...) {
    release();
    throw;
  }
}

address_layout::address_layout(device& device, const control_group& group, const domains& domains, handle_kind kind,
                               std::size_t common, std::size_t teams)
    : device_(device),
      log2_stride_(device_placed_slots::log2_unit),
      // The alignment is at most a sixteenth of the range, because each block is larger than its slot by the alignment.
      alignment_(std::bit_floor(std::clamp(common / 16, device_placed_slots::unit, std::size_t{64} << 20))),
      team_begin_(common),
      slot_bytes_(common + teams),
      same_base_(group.n_pes() == 1) {
  blocks_ = std::make_unique<device_placed_slots>(device, group, domains, kind, slot_bytes_, alignment_);
}

address_layout::~address_layout() { release(); }

void address_layout::release() noexcept {
  if (base_ != nullptr) device_.release(base_, bytes_);
  base_ = nullptr;
}

address_layout::spanned address_layout::with_span(device& device, const control_group& everyone, const domains& domains,
                                                  handle_kind kind, std::size_t stride, std::size_t alignment,
                                                  const opening& open_first, log::logger& log) {
  const int me = everyone.my_pe();
  const int owner = domains.members().front();
  const auto slots = static_cast<std::size_t>(domains.largest());
  if (stride > most_addresses / slots) return {};
  std::unique_ptr<address_layout> result(new address_layout(device));
  result->log2_stride_ = std::countr_zero(stride);
  const std::size_t bytes = domains.members().size() * stride;
  std::optional<segment_id> span;
  std::unique_ptr<group_segment> first;
  const auto give_up = [&] {
    first.reset();
    if (span) device.destroy(*span);
    if (result->has_span()) device.detach_span(result->base_, result->span_bytes_);
  };
  step_result mine;
  mine.call = {collective_step::kind::probe, 0, slots * stride, alignment, collective_step::nowhere};
  mine.failure = attempt(everyone, fmt::format("make a file of {} for all slots", format_bytes(bytes)), [&] {
    if (me == 0) {  // PE 0 proposes its addresses
      result->reserve_for_span(0, slots * stride, alignment);
      const auto base = std::as_bytes(std::span(&result->base_, 1));
      mine.key.assign(base.begin(), base.end());
    }
    if (me != owner) return;
    span = device.create_span(bytes, kind);
    if (domains.members().size() > 1) mine.handle = device.export_segment(*span);
  });
  try {
    std::vector<step_result> all = exchange(everyone, mine);
    mine.handle.fd.reset();
    std::optional<error> failed = first_failure(all);
    if (!failed)
      failed = attempt(everyone, fmt::format("map {} for all slots", format_bytes(bytes)), [&] {
        std::uintptr_t proposal = 0;
        if (all[0].key.size() == sizeof proposal) std::memcpy(&proposal, all[0].key.data(), sizeof proposal);
        if (me != 0) result->reserve_for_span(proposal, slots * stride, alignment);
        const step_result& theirs = all[static_cast<std::size_t>(owner)];
        if (theirs.fds_lost) throw error(code::handle_invalid, "the descriptor was lost (ulimit -n)");
        if (me != owner) span = device.import_segment(theirs.handle, bytes);
        result->guards_peers_ = domains.members().size() <= static_cast<std::size_t>(most_guarded);
        device.attach_span(result->base_, bytes, *span, !result->guards_peers_);
        span.reset();
        result->span_bytes_ = bytes;
        if (!result->guards_peers_) device.unmap(result->slot(domains.index(me)), stride);
        result->team_begin_ = stride / 2;
        result->slot_bytes_ = stride;
        first = open_first(*result);
      });
    const agreement outcome = agree(everyone, std::as_bytes(std::span(&result->base_, 1)), failed);
    if (!outcome.failure) {
      result->same_base_ = !outcome.other;
      std::int32_t log2 = std::min<std::int32_t>(result->log2_stride_, log2_alignment(result->base_));
      if (!result->same_base_)
        log2 = reduce_value(everyone, log2, [](std::int32_t a, std::int32_t b) { return std::min(a, b); });
      result->alignment_ = std::size_t{1} << log2;
      return {std::move(result), std::move(first)};
    }
    if (me == 0) log.info("each PE shares its segments one by one: {}", text_of(*outcome.failure));
  } catch (...) {
    give_up();
    throw;
  }
  give_up();
  return {};
}

void address_layout::reserve_for_span(std::uintptr_t proposal, std::size_t bytes, std::size_t alignment) {
  const auto reserve = [&](std::uintptr_t at) {
    if (base_ == nullptr) base_ = static_cast<std::byte*>(device_.reserve(bytes, reinterpret_cast<void*>(at)));
  };
  if (proposal != 0) reserve(proposal);
  for (const std::uintptr_t candidate : candidates)
    if (proposal == 0) reserve(candidate);
  if (base_ == nullptr) base_ = static_cast<std::byte*>(reserve_aligned(bytes));
  bytes_ = bytes;
  if (!aligned(base_, alignment)) throw error(code::address_space, "the device gave a badly aligned address");
}

void* address_layout::reserve_aligned(std::size_t bytes) {
  void* const plain = device_.reserve(bytes, nullptr);
  constexpr int tries = 8;
  for (int i = 0; i < tries && !aligned(plain, stride()); ++i) {
    try {
      // A wider range contains an aligned range of the wanted size. After the wider range is released, the aligned
      // range is free, unless another thread reserves it.
      void* const wider = device_.reserve(bytes + stride(), nullptr);
      const std::uintptr_t inside = (reinterpret_cast<std::uintptr_t>(wider) + stride() - 1) & ~(stride() - 1);
      device_.release(wider, bytes + stride());
      if (void* const better = device_.reserve(bytes, reinterpret_cast<void*>(inside)); better != nullptr) {
        device_.release(plain, bytes);
        return better;
      }
    } catch (const error&) {
      break;  // if there are too few addresses, the unaligned range is used
    }
  }
  return plain;
}

bool address_layout::agree_on_base(const control_group& group, std::size_t bytes, std::size_t alignment) {
  // The address that the system chooses on PE 0 is tried first, because no other address is free under some sanitizers.
  for (std::size_t round = 0; round <= std::size(candidates); ++round) {
    void* mine = nullptr;
    if (group.my_pe() == 0) {
      try {
        mine = round == 0 ? reserve_aligned(bytes)
                          : device_.reserve(bytes, reinterpret_cast<void*>(candidates[round - 1]));
      } catch (const error&) {
        mine = nullptr;  // tells the other PEs "no proposal"; reserve_anywhere() reports the error if no round succeeds
      }
      if (mine != nullptr && !aligned(mine, alignment)) {
        device_.release(mine, bytes);
        mine = nullptr;
      }
    }
    std::uint64_t proposal = 0;
    try {
      // Only PE 0 proposes an address. The other PEs send 0.
      proposal = reduce_value(group, static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(mine)),
                              [](std::uint64_t a, std::uint64_t b) { return std::max(a, b); });
      if (proposal == 0) continue;
      if (group.my_pe() != 0) {
        try {
          mine = device_.reserve(bytes, reinterpret_cast<void*>(static_cast<std::uintptr_t>(proposal)));
        } catch (const error&) {
          mine = nullptr;
        }
      }
      const bool everywhere = reduce_value(group, mine != nullptr, [](bool a, bool b) { return a && b; });
      if (everywhere) {
        base_ = static_cast<std::byte*>(mine);
        bytes_ = bytes;
        return true;
      }
    } catch (...) {
      if (mine != nullptr) device_.release(mine, bytes);
      throw;
    }
    if (mine != nullptr) device_.release(mine, bytes);
  }
  return false;
}

bool address_layout::reserve_anywhere(const control_group& group, std::size_t bytes, std::size_t alignment,
                                      bool last_try) {
  step_result mine;
  mine.call = {collective_step::kind::probe, 0, bytes, alignment, collective_step::nowhere};
  mine.failure = attempt(group, fmt::format("reserve {} of addresses", format_bytes(bytes)), [&] {
    base_ = static_cast<std::byte*>(reserve_aligned(bytes));
    bytes_ = bytes;
    if (!aligned(base_, alignment)) throw error(code::address_space, "the device gave a badly aligned address");
  });
  const std::optional<error> failed = agree_on_step(group, mine.call, mine.failure).failure;
  if (!failed) return true;
  release();
  if (last_try)
    throw error(code::address_space,
                text_of(*failed) + "; lower PGAS_HEAP_LIMIT or PGAS_HEAP_STRIDE, or raise ulimit -v", failed->pe());
  return false;
}

}  // namespace pgas::detail
