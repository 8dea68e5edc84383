/// @file
/// The kinds of host calls. The kind decides where a call is recorded.
#pragma once

#include <cstdint>
#include <optional>

#include "host/team/team_state.hpp"
#include "host/watch/call_record.hpp"
#include "host/world/world_state.hpp"

namespace pgas::detail {

/// A wait inside a host_operation. The trace already contains the operation.
struct listed_call : call_record {
  listed_call(world_state& world, const char* name) noexcept : call_record({&world.calls(), nullptr, nullptr}, name) {}
};

/// A wait that is recorded in the list of calls and in the trace. The ranges of profilers show only the call around the
/// wait.
struct waiting_call : call_record {
  waiting_call(world_state& world, const char* name) noexcept
      : call_record({&world.calls(), world.events(), nullptr}, name) {}
};

/// A call that waits for no other PE.
struct profiled_call : call_record {
  profiled_call(world_state& world, const char* name) noexcept
      : call_record({nullptr, world.events(), world.profiled_device()}, name) {}
};

/// A call that waits for other PEs.
struct host_call : call_record {
  host_call(world_state& world, const char* name) noexcept
      : call_record({&world.calls(), world.events(), world.profiled_device()}, name) {}
  /// A collective of a team, enqueued on a stream or called by the host.
  host_call(team_state& team, const char* name, std::optional<stream_handle> on = std::nullopt) noexcept
      : host_call(team.world(), name) {
    trace::event_facts* const collective = facts();
    if (collective == nullptr) return;
    collective->kind = trace::event_kind::collective;
    collective->team = team.group().id();
    collective->number = team.next_traced();
    if (!on) return;
    collective->by = trace::caller::stream;
    collective->stream = reinterpret_cast<std::uintptr_t>(*on);
  }
};

}  // namespace pgas::detail
