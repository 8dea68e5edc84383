#include "pgas/collective.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <mutex>
#include <optional>
#include <string>

#include "common/struct_members.hpp"
#include "host/exchange/agree_on_collective.hpp"
#include "host/exchange/device_collective.hpp"
#include "host/team/team_state.hpp"
#include "host/world/host_call.hpp"
#include "host/world/world_state.hpp"
#include "pgas/compat_support.hpp"

namespace pgas {

namespace detail {

namespace {

/// Returns the number of bytes that `elements` elements with a stride occupy. *Errors* invalid_argument if the product
/// overflows.
std::size_t span_bytes(const collective_request& r, std::size_t elements, std::ptrdiff_t stride) {
  if (elements == 0) return 0;
  std::size_t span = 0;
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(elements - 1, static_cast<std::size_t>(stride), &span) ||
      __builtin_add_overflow(span, 1u, &span) || __builtin_mul_overflow(span, r.element_bytes, &bytes))
    throw error(code::invalid_argument,
                fmt::format("{}: {} elements of {} bytes, {} apart, are more than a size_t can count", name_of(r.what),
                            elements, r.element_bytes, stride));
  return bytes;
}

/// The memory that a member reads and writes in a collective.
struct footprint {
  std::size_t dst_bytes = 0;
  std::size_t src_bytes = 0;
  /// For an in-place call: the offset of src in dst; for reduce_scatter, the offset of dst in src.
  std::size_t in_place = 0;
  std::size_t block = 0;  ///< the bytes of a member's block, if in_place depends on the member
  bool may_be_in_place = true;
};

footprint footprint_of(const collective_request& r, const team_view& team) {
  const auto n = static_cast<std::size_t>(team.n_pes());
  const auto me = static_cast<std::size_t>(team.my_pe());
  std::size_t blocks = 0;  // the elements of all members' blocks
  if (__builtin_mul_overflow(n, r.count, &blocks))
    throw error(code::invalid_argument,
                fmt::format("{}: {} times {} elements are more than a size_t can count", name_of(r.what), n, r.count));
  const std::size_t size = span_bytes(r, r.count, 1);
  const std::size_t all = span_bytes(r, blocks, 1);
  switch (r.what) {
    case collective_kind::word_barrier: return {n * sizeof(signal_t), 0};
    case collective_kind::broadcast: return {size, team.my_pe() == r.root ? size : 0};
    case collective_kind::fcollect: return {all, size, me * size, size};
    case collective_kind::collect: return {size, size};  // the offset of this PE's elements in dst is not known yet
    case collective_kind::alltoall: return {all, all, 0, 0, false};
    case collective_kind::alltoalls:
      return {span_bytes(r, blocks, r.dst_stride), span_bytes(r, blocks, r.src_stride), 0, 0, false};
    case collective_kind::reduce_scatter: return {size, all, me * size, size};
    default: return {size, size};
  }
}

/// Throws an error if the request of this member of `team` is not valid. Returns the position of the source in the
/// destination.
placement check(const world_state& world, const team_view& team, const collective_request& r) {
  const char* const what = name_of(r.what);
  if (rooted(r.what) && (r.root < 0 || r.root >= team.n_pes()))
    throw error(code::pe_out_of_range,
                fmt::format("{}: the team has no PE {}, its PEs are 0 to {}", what, r.root, team.n_pes() - 1), r.root);
  if (r.what == collective_kind::alltoalls && (r.dst_stride < 1 || r.src_stride < 1))
    throw error(code::invalid_argument,
                fmt::format("{}: strides must be at least 1, not {} and {}", what, r.dst_stride, r.src_stride));
  const footprint uses = footprint_of(r, team);
  const auto* const dst = static_cast<const std::byte*>(r.dst);
  const auto* const src = static_cast<const std::byte*>(r.src);
  if (uses.dst_bytes > 0) {
    if (dst == nullptr) throw error(code::invalid_argument, fmt::format("{}: the destination is null", what));
    world.check_symmetric(dst, uses.dst_bytes, r.alignment, what);
  }
  if (uses.src_bytes > 0) {
    if (src == nullptr) throw error(code::invalid_argument, fmt::format("{}: the source is null", what));
    world.check_symmetric(src, uses.src_bytes, r.alignment, what);
  }
  if (uses.dst_bytes == 0 || uses.src_bytes == 0 || r.what == collective_kind::collect) return placement::apart;
  if (dst >= src + uses.src_bytes || src >= dst + uses.dst_bytes) return placement::apart;
  const bool scatter = r.what == collective_kind::reduce_scatter;
  const std::ptrdiff_t offset = scatter ? dst - src : src - dst;
  if (uses.may_be_in_place && offset == static_cast<std::ptrdiff_t>(uses.in_place)) return placement::in_place;
  // The source is at the in-place position of another member. This happens if all members pass the same variable to an
  // in-place call. agree_on_collective() reports the mistake.
  if (uses.block != 0 && offset >= 0 && static_cast<std::size_t>(offset) % uses.block == 0)
    return placement::of_another;
  throw error(
      code::invalid_argument,
      fmt::format(
          "{}: source and destination overlap{}", what,
          uses.may_be_in_place ? "; an in-place call needs the addresses that the function's description names" : ""));
}

/// Runs check(). In a blocking call, all members throw the same error if the members compare their calls or if the
/// source overlaps the destination. In all other cases only the member with the error throws.
void check_on_all(const team_state& state, bool blocking, bool compare, const collective_request& r) {
  const bool checks = compare || state.world().heap().parameters().checks != 0;
  std::optional<error> refused;
  placement where = placement::apart;
  try {
    where = check(state.world(), state.view(), r);
  } catch (const error& why) {
    if (!blocking || !checks) throw;
    refused = why;
  }
  const bool depends = r.what == collective_kind::fcollect || r.what == collective_kind::reduce_scatter;
  if (blocking && (checks || (depends && where != placement::apart)))
    agree_on_collective(state.group(), r, where, refused);
}

}  // namespace

namespace {

void run(const team& members, const stream* on, bool compare, const collective_request& asked) {
  team_state& state = members.state();
  state.check();
  world_state& world = state.world();
  collective_request request = asked;
  request.most_blocks = world.max_collective_blocks();
  const std::optional<stream_handle> queue = on != nullptr ? std::optional(on->native(world)) : std::nullopt;
  const host_call listed(state, name_of(request.what), queue);
  if (queue) {
    check_on_all(state, false, compare, asked);
    state.enqueue_collective(request, *queue);
    return;
  }
  const std::lock_guard lock(state.collective_mutex());
  world.check_device();
  check_on_all(state, true, compare, asked);
  world.await_host_operations();
  const stream_handle own = state.stream();
  const device_collective waiting(state.group(), name_of(request.what));
  state.enqueue_collective(request, own);
  world.synchronize(own);
}

}  // namespace

void run_request(const team& members, const stream* on, const given<collective_request>& request) {
  run(members, on, false, taken(request));
}

void run_compared_request(const team& members, const given<collective_request>& request) {
  run(members, nullptr, true, taken(request));
}

namespace {

/// A barrier over the control plane, which detects a lost PE.
void host_barrier(const team& members, const char* what, bool complete) {
  team_state& state = members.state();
  state.check();
  const host_call listed(state, what);
  const std::lock_guard lock(state.collective_mutex());
  state.world().check_device();
  if (complete) state.world().quiet();
  state.group().barrier();
}

void barrier_on_stream(const team& members, const stream& on, collective_kind what) {
  collective_request request;
  request.what = what;
  run_collective(members, &on, request);
}

/// @param from the member to wait for; -1: a barrier of all members
void word_barrier(const team& members, const stream& on, signal_t* words, int from, std::chrono::milliseconds limit) {
  constexpr std::int64_t most_ms = std::numeric_limits<std::uint32_t>::max();
  if (limit.count() < 0 || limit.count() > most_ms)
    throw error(
        code::invalid_argument,
        fmt::format("a barrier by words: the limit is 0 (PGAS_WAIT_TIMEOUT) to {} ms, not {}", most_ms, limit.count()));
  collective_request request;
  request.what = collective_kind::word_barrier;
  request.root = from;
  request.alignment = alignof(signal_t);
  request.dst = words;
  request.limit_ms = static_cast<std::uint32_t>(limit.count());
  run_collective(members, &on, request);
}

}  // namespace
}  // namespace detail

void barrier(const team& members) { detail::host_barrier(members, "pgas::barrier", true); }
void barrier(const team& members, const stream& on) {
  detail::barrier_on_stream(members, on, detail::collective_kind::barrier);
}
void sync(const team& members) { detail::host_barrier(members, "pgas::sync", false); }
void sync(const team& members, const stream& on) {
  detail::barrier_on_stream(members, on, detail::collective_kind::sync);
}

void barrier(const team& members, const stream& on, signal_t* words, std::chrono::milliseconds limit) {
  detail::word_barrier(members, on, words, -1, limit);
}
void signal_take(const team& members, const stream& on, signal_t* words, int from, std::chrono::milliseconds limit) {
  if (from < 0 || from >= members.n_pes())
    throw error(code::pe_out_of_range,
                fmt::format("signal_take: the team has no PE {}, its PEs are 0 to {}", from, members.n_pes() - 1),
                from);
  detail::word_barrier(members, on, words, from, limit);
}

void barrier_all(world& w, const stream& on) { barrier(w.team(), on); }
void sync_all(world& w, const stream& on) { sync(w.team(), on); }

}  // namespace pgas
