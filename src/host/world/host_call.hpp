/// @file
/// The kinds of host calls, by where a call of the kind is recorded.
#pragma once

#include <cstdint>
#include <optional>

#include "host/team/team_state.hpp"
#include "host/watch/call_record.hpp"
#include "host/world/world_state.hpp"

namespace pgas::detail {

/// A wait inside a host_operation, which is in the trace already.
struct listed_call : call_record {
  listed_call(world_state& world, const char* name) noexcept : call_record({&world.calls(), nullptr, nullptr}, name) {}
};

/// A wait inside of host calls, which profilers see by themselves.
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
  /// One collective of a team, enqueued on a stream or not.
  host_call(team_state& of, const char* name, std::optional<stream_handle> on = std::nullopt) noexcept
      : host_call(of.world(), name) {
    trace::event_facts* const collective = facts();
    if (collective == nullptr) return;
    collective->kind = trace::event_kind::collective;
    collective->team = of.group().id();
    collective->number = of.next_traced();
    if (!on) return;
    collective->by = trace::caller::stream;
    collective->stream = reinterpret_cast<std::uintptr_t>(*on);
  }
};

}  // namespace pgas::detail
