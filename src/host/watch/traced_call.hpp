/// @file
/// Records a host call for the time line.
#pragma once

#include <optional>

#include "common/trace/recorder.hpp"

namespace pgas::detail {

/// One event, from its construction to its destruction. Without a recorder it is a test of a pointer, there and here.
class traced_call {
 public:
  /// @param to null: nothing is recorded @param name has to live as long as the process
  traced_call(trace::recorder* to, const char* name) noexcept : to_(to) {
    if (to_ == nullptr) return;
    event_.emplace().name = name;
    event_->facts.begin = trace::now_ns();
  }
  ~traced_call() {
    if (to_ == nullptr) return;
    event_->facts.end = trace::now_ns();
    to_->add(*event_);
  }
  traced_call(const traced_call&) = delete;
  traced_call& operator=(const traced_call&) = delete;

  /// What is to be known of it; null where nothing is recorded.
  [[nodiscard]] trace::event_facts* facts() noexcept { return to_ == nullptr ? nullptr : &event_->facts; }
  /// Records what happened at this moment inside of it. Only where facts() is not null.
  void add_moment(const trace::event_facts& facts, const char* name) noexcept {
    trace::recorded_event moment{facts, name};
    moment.facts.begin = moment.facts.end = trace::now_ns();
    to_->add(moment);
  }

 private:
  trace::recorder* const to_;
  std::optional<trace::recorded_event> event_;
};

}  // namespace pgas::detail
