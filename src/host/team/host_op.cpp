#include "host/team/host_op.hpp"

#include <fmt/format.h>

namespace pgas::detail {

namespace {

world_state& joined(world& w) {
  world_state& state = w.state();
  state.check();
  return state;
}

}  // namespace

host_op::host_op(const issue& how, const char* what)
    : how_(how),
      state_(joined(how.w)),
      what_(what),
      queue_(how.on != nullptr ? how.on->native(how.w.state()) : nullptr),
      range_(state_, what) {}

void* host_op::target(const void* local, std::size_t bytes, std::size_t alignment, int pe) const {
  state_.check_symmetric(local, bytes, alignment, what_);
  if (!far(pe)) return state_.remote(local, pe);
  state_.check_peer_has(local, pe);
  return const_cast<void*>(local);
}

void host_op::address(operation_request& request, int pe) const {
  if (state_.domains().only_one()) return;
  request.here = state_.context();
  if (!far(pe)) return;
  request.pe = pe;
  // What fetches is complete when it has its answer.
  using kind = operation_request::kind;
  const bool answered =
      request.what == kind::get || (request.what == kind::atomic && request.how != atomic_update::set);
  request.complete = !answered && (how_.wait || how_.on != nullptr);
  request.until_quiet = request.complete || (!how_.wait && how_.on == nullptr);
}

void host_op::check_compare(cmp how) const {
  if (how < cmp::eq || how > cmp::ge)
    throw error(code::invalid_argument,
                fmt::format("{}: there is no cmp {}: use eq, ne, gt, le, lt or ge", what_, static_cast<int>(how)));
}

void host_op::check_local(const void* memory) const {
  if (memory == nullptr) throw error(code::invalid_argument, fmt::format("{}: the local memory is null", what_));
  if (how_.on == nullptr || state_.heap().contains(memory, 1)) return;  // most is: the driver need not be asked
  if (!state_.device().capturing(queue_) || state_.device().reaches(memory)) return;
  throw error(
      code::capturing,
      fmt::format("{}: {} is pageable host memory, which a CUDA graph can't copy at each replay: allocate it with "
                  "cudaHostAlloc or pin it with cudaHostRegister",
                  what_, memory));
}

void host_op::check_peer_has(const void* memory, const char* role) const {
  if (memory == nullptr || state_.device().reaches(memory)) return;
  throw error(
      code::invalid_argument,
      fmt::format("{}: {} at {} is memory that kernels can't reach: use the heap, GPU memory, or pinned host memory "
                  "(cudaHostAlloc)",
                  what_, role, memory));
}

void host_op::submit(const operation_request& request) {
  if (how_.on != nullptr)
    device().enqueue(request, queue_);
  else
    state_.execute_operation(request);
}

void host_op::finish(int pe) {
  if (how_.wait && !far(pe)) state_.synchronize(queue_);
}

}  // namespace pgas::detail
