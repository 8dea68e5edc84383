/// @file
/// The record of one host call in progress. Used by calls_in_progress, the statistics, the trace and the
/// profiler.
#pragma once

#include <optional>

#include "common/trace/recorder.hpp"
#include "device/device.hpp"
#include "host/watch/calls_in_progress.hpp"

namespace pgas::detail {

/// Records a call as an entry in the list of calls (for pgas-why and the statistics), as an event of the trace, and as
/// a range of the profiler.
class call_record {
 public:
  /// The objects that record a call. If a pointer is null, that record is not made.
  struct places {
    calls_in_progress* calls;
    trace::recorder* events;
    device* ranges;
  };

  /// @param name must stay valid until the process ends
  call_record(const places& in, const char* name) noexcept
      : in_{in.calls != nullptr && in.calls->enter(name) ? in.calls : nullptr, in.events, in.ranges} {
    if (in_.events != nullptr) {
      event_.emplace().name = name;
      event_->facts.begin = trace::now_ns();
    }
    if (in_.ranges != nullptr) in_.ranges->range_push(name);
  }
  ~call_record() {
    if (in_.ranges != nullptr) in_.ranges->range_pop();
    if (in_.events != nullptr) {
      event_->facts.end = trace::now_ns();
      in_.events->add(*event_);
    }
    if (in_.calls != nullptr) in_.calls->leave();
  }
  call_record(const call_record&) = delete;
  call_record& operator=(const call_record&) = delete;

  /// The event of the trace; null if the call is not traced.
  [[nodiscard]] trace::event_facts* facts() noexcept { return in_.events == nullptr ? nullptr : &event_->facts; }
  /// Records a moment inside the call. *Requires* facts() is not null.
  void add_moment(const trace::event_facts& facts, const char* name) noexcept {
    trace::recorded_event moment{facts, name};
    moment.facts.begin = moment.facts.end = trace::now_ns();
    in_.events->add(moment);
  }

 private:
  const places in_;
  std::optional<trace::recorded_event> event_;
};

}  // namespace pgas::detail
