#include "fake_kernels.hpp"

#include <chrono>

#include "device/both_backends/execute_collective.hpp"
#include "device/both_backends/execute_operation.hpp"
#include "device/cpu/cpu_device.hpp"
#include "device/cuda/kernels/kernel_shapes.hpp"

namespace fake_cuda {

using namespace pgas::detail;
using pgas::context;
using pgas::this_thread;

namespace {

template <class T>
T argument(void* const* arguments, int i) {
  return *static_cast<const T*>(arguments[i]);
}

/// Catches thread_ended, which a thread of a kernel throws when its wait fails. The host reads the reason from the
/// failure record.
template <class F>
auto ended_early(F work) {
  return [work] {
    try {
      work();
    } catch (const thread_ended&) {
    }
  };
}

void read_clock(cuda::clock_rounds* shared, std::uint32_t rounds) {
  for (std::uint32_t round = 1; round <= rounds; ++round) {
    while (load_relaxed(&shared->asked) < round) {
    }
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    store_relaxed(&shared->time, static_cast<std::uint64_t>(std::chrono::nanoseconds(now).count()));
    store_release(&shared->answered, round);
  }
}

}  // namespace

std::function<void()> kernel_of(const std::string& name, void* const* arguments) {
  if (name == "pgas_operation")
    return ended_early(
        [request = argument<operation_request>(arguments, 0)] { execute_operation(request, this_thread{}); });
  if (name == "pgas_strided")
    return [request = argument<operation_request>(arguments, 0)] { execute_strided(request, {0, 1}); };
  if (name == "pgas_list")
    return ended_early([request = argument<list_request>(arguments, 0)] {
      execute_list(request, this_thread{}, {0, 1});
    });
  if (name == "pgas_updates")
    return [list = argument<batched_atomic*>(arguments, 0), count = argument<unsigned>(arguments, 1)] {
      execute_updates(list, count);
    };
  if (name == "pgas_use_stack") return [] {};
  if (name == "pgas_read_clock")
    return [shared = argument<cuda::clock_rounds*>(arguments, 0), rounds = argument<std::uint32_t>(arguments, 1)] {
      read_clock(shared, rounds);
    };
  if (!name.starts_with("pgas_collective_")) return {};
  return ended_early([name, here = argument<context>(arguments, 0), team = argument<pgas::team_view>(arguments, 1),
                      request = argument<collective_request>(arguments, 2)] {
    if (name.ends_with("untyped")) execute_move(here, this_thread{}, team, request);
    if (name.ends_with("integers")) static_cast<void>(execute_reduce<integers>(here, team, request));
    if (name.ends_with("reals")) static_cast<void>(execute_reduce<reals>(here, team, request));
    if (name.ends_with("pairs")) static_cast<void>(execute_reduce<pairs>(here, team, request));
  });
}

}  // namespace fake_cuda
