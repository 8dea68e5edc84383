// Operations that threads of the host ask for: on near PEs by the device's internal queue, on far ones by the ring that
// the host has.
#include <cstring>

#include "host/team/world_state.hpp"

namespace pgas::detail {

void world_state::execute_operation(const operation_request& request) {
  if (request.pe == operation_request::direct) {
    // A near signal comes after what went to the proxy before.
    if (request.release) await_far_operations();
    return device_->enqueue(request, nullptr);
  }
  if (request.release && request.what == operation_request::kind::atomic) await_host_operations();
  if (!far_->by_host().execute_operation(request)) give_up();
}

void world_state::await_far_operations() {
  if (far_ && !far_->by_host().quiet()) give_up();
}

void world_state::await_host_operations() {
  await_far_operations();
  synchronize(nullptr);
}

void world_state::give_up() const {
  rethrow_failure();
  throw error(code::device_failed, "an operation on a PE beyond load and store was given up");
}

std::uint64_t world_state::fetch(const operation_request& request) {
  std::uint64_t old = 0;
  if (request.pe != operation_request::direct) {
    operation_request fetching = request;
    fetching.result = &old;
    execute_operation(fetching);
    return old;
  }
  if (request.release) await_far_operations();
  try {
    old = device_->fetch(request);
  } catch (const error&) {
    rethrow_failure();
    throw;
  }
  // On a GPU an operation that had to give up has ended its kernel, and nothing else.
  if (const std::optional<error> recorded = recorded_failure()) throw error(*recorded);
  return old;
}

void world_state::fetch_later(const operation_request& request, void* result) {
  if (request.pe != operation_request::direct) {
    const std::uint64_t old = fetch(request);
    std::memcpy(result, &old, size_of(request.as));
    return;
  }
  const auto enqueue = [&](void* place) {
    operation_request placed = request;
    placed.result = place;
    device_->enqueue(placed, nullptr);
  };
  fetches_->add(result, size_of(request.as), enqueue, [this] { synchronize(nullptr); });
}

void world_state::quiet() {
  fetches_->deliver([this] { complete(); });
}

void world_state::complete() {
  if (far_) {
    operation_request kernels;
    kernels.what = operation_request::kind::quiet;
    kernels.here = context_;
    device_->enqueue(kernels, nullptr);
  }
  await_host_operations();
}

}  // namespace pgas::detail
