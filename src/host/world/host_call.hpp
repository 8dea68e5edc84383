/// @file
/// The marks that a host call leaves while it lasts: in the list of calls (pgas-why), in the profiler and in the trace.
#pragma once

#include <cstdint>
#include <optional>

#include "host/team/team_state.hpp"
#include "host/watch/traced_call.hpp"
#include "host/world/world_state.hpp"

namespace pgas::detail {

/// Keeps a host call in the list of calls for as long as it lives.
class listed_call {
 public:
  /// @param name has to live as long as the process
  listed_call(world_state& world, const char* name) noexcept
      : calls_(world.calls().enter(name) ? &world.calls() : nullptr) {}
  ~listed_call() {
    if (calls_ != nullptr) calls_->leave();
  }
  listed_call(const listed_call&) = delete;
  listed_call& operator=(const listed_call&) = delete;

 private:
  call_list* calls_;
};

/// Marks a host call in the profiler's time line, and in the one of PGAS_TRACE, for as long as it lives.
class profiled_call {
 public:
  profiled_call(world_state& world, const char* name) noexcept
      : traced(world.events(), name), device_(world.settings().nvtx ? &world.device() : nullptr) {
    if (device_ != nullptr) device_->range_push(name);
  }
  ~profiled_call() {
    if (device_ != nullptr) device_->range_pop();
  }
  profiled_call(const profiled_call&) = delete;
  profiled_call& operator=(const profiled_call&) = delete;

  traced_call traced;

 private:
  device* device_;
};

/// A wait inside of host calls, which profilers see by themselves.
struct waiting_call {
  waiting_call(world_state& world, const char* name) noexcept : listed(world, name), traced(world.events(), name) {}

  listed_call listed;
  traced_call traced;
};

/// A call that waits for other PEs.
struct host_call {
  host_call(world_state& world, const char* name) noexcept : listed(world, name), profiled(world, name) {}
  /// One collective of a team, enqueued on a stream or not.
  host_call(team_state& of, const char* name, std::optional<stream_handle> on = std::nullopt) noexcept
      : host_call(of.world(), name) {
    trace::event_facts* const facts = profiled.traced.facts();
    if (facts == nullptr) return;
    facts->kind = trace::event_kind::collective;
    facts->team = of.group().id();
    facts->number = of.next_traced();
    if (!on) return;
    facts->by = trace::caller::stream;
    facts->stream = reinterpret_cast<std::uintptr_t>(*on);
  }

  listed_call listed;
  profiled_call profiled;
};

}  // namespace pgas::detail
