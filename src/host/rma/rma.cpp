#include "pgas/rma.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <thread>

#include "host/world/world_state.hpp"

namespace pgas::detail {

namespace {

static_assert(static_cast<int>(host_atomic::compare_swap) == static_cast<int>(atomic_request::operation::compare_swap));
static_assert(static_cast<int>(host_number::f64) == static_cast<int>(atomic_request::type::f64));

}  // namespace

std::size_t byte_count(std::size_t count, std::size_t size) {
  if (size != 0 && count > std::numeric_limits<std::size_t>::max() / size)
    throw error(code::invalid_argument, fmt::format("{} elements of {} bytes are more than a size_t can count", count, size));
  return count * size;
}

void put_bytes(world& w, void* to, const void* from, std::size_t bytes, int pe) {
  world_state& state = w.state();
  state.check();
  state.check_pe(pe, "put");
  if (bytes == 0) return;
  state.check_symmetric(to, bytes, 1, "put");
  if (from == nullptr) throw error(code::invalid_argument, fmt::format("put: the source of {} bytes is null", bytes));
  const trace_range range(state, "pgas::put");
  state.device().copy(state.remote(to, pe), from, bytes, nullptr);
  state.synchronize(nullptr);
}

void get_bytes(world& w, void* to, const void* from, std::size_t bytes, int pe) {
  world_state& state = w.state();
  state.check();
  state.check_pe(pe, "get");
  if (bytes == 0) return;
  state.check_symmetric(from, bytes, 1, "get");
  if (to == nullptr) throw error(code::invalid_argument, fmt::format("get: the destination of {} bytes is null", bytes));
  const trace_range range(state, "pgas::get");
  state.device().copy(to, state.remote(from, pe), bytes, nullptr);
  state.synchronize(nullptr);
}

std::uint64_t atomic(world& w, host_atomic what, host_number as, const void* target, std::uint64_t value,
                     std::uint64_t condition, bool release, int pe) {
  world_state& state = w.state();
  state.check();
  state.check_pe(pe, "atomic");
  const std::size_t bytes = as == host_number::u32 || as == host_number::f32 ? 4 : 8;
  state.check_symmetric(target, bytes, bytes, "atomic");
  const trace_range range(state, "pgas::atomic");
  atomic_request request{};
  request.what = static_cast<atomic_request::operation>(what);
  request.as = static_cast<atomic_request::type>(as);
  request.target = state.remote(target, pe);
  request.value = value;
  request.condition = condition;
  request.release = release;
  return state.atomic(request);
}

host_wait::host_wait(world& w, const void* waited_for, std::uint64_t expected)
    : world_(w), waited_for_(waited_for), expected_(expected), begin_(std::chrono::steady_clock::now()) {}

void host_wait::pause(std::uint64_t seen) {
  world_state& state = world_.state();
  state.check();
  const auto limit = state.settings().wait_timeout;
  if (limit.count() > 0 && std::chrono::steady_clock::now() - begin_ > limit)
    throw error(code::wait_timeout,
                fmt::format("wait_until on PE {} gave up after {} ms (PGAS_WAIT_TIMEOUT): the word at heap offset {:#x} was "
                            "compared with {} and last seen as {}. Look for the PE that should have written it, or raise the limit",
                            state.context().my_pe(), limit.count(), state.context().offset(waited_for_), expected_, seen));
  // Short waits poll; long ones sleep for longer and longer, up to 1 ms, so that they cost next to nothing.
  if (pauses_ < 64)
    std::this_thread::yield();
  else
    std::this_thread::sleep_for(std::chrono::microseconds(std::min(1000u, 10 + (pauses_ - 64) / 4)));
  ++pauses_;
}

}  // namespace pgas::detail
