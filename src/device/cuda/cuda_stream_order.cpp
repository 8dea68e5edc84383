#include "device/cuda/cuda_stream_order.hpp"

#include <algorithm>
#include <vector>

namespace pgas::detail::cuda {

namespace {

/// The maximum number of captures for which the last work is stored. One thread at a time enqueues work, so more
/// captures at the same time are unlikely.
constexpr std::size_t most_captures = 16;

}  // namespace

unsigned long long number_of_stream(CUstream stream) {
  unsigned long long number = 0;
  check(driver().stream_id(stream, &number), "querying the id of a stream");
  return number;
}

cuda_stream_order::cuda_stream_order(CUcontext context, live_streams& result) : context_(context), made_(result) {
  const current_context current(context_);
  event_ = make_event();
}

cuda_stream_order::~cuda_stream_order() {
  const quiet_context current(context_);
  if (!current) return;
  static_cast<void>(driver().event_destroy(event_));
  for (const capture& each : captures_) static_cast<void>(driver().event_destroy(each.last));
}

CUevent cuda_stream_order::make_event() {
  CUevent result = nullptr;
  check(driver().event_create(&result, CU_EVENT_DISABLE_TIMING), "creating an event");
  return result;
}

cuda_stream_order::capture_state cuda_stream_order::capture_of(CUstream stream) {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  capture_state now;
  const CUgraphEdgeData* edges = nullptr;
  check(driver().stream_capture_info(stream, &status, &now.id, &now.graph, &now.last, &edges, &now.count),
        "querying whether a stream is being captured");
  if (status == CU_STREAM_CAPTURE_STATUS_INVALIDATED)
    throw error(code::capturing, "the capture of this stream has been invalidated by an earlier call: end it");
  return status == CU_STREAM_CAPTURE_STATUS_ACTIVE ? now : capture_state{};
}

cuda_stream_order::capture* cuda_stream_order::find(cuuint64_t id) {
  const auto found = std::find_if(captures_.begin(), captures_.end(), [&](const capture& c) { return c.id == id; });
  return found != captures_.end() ? &*found : nullptr;
}

cuda_stream_order::capture& cuda_stream_order::entry_of(cuuint64_t id) {
  if (capture* const known = find(id)) return *known;
  capture next;
  if (captures_.size() < most_captures) {
    const relaxed_capture_scope undisturbed;
    next.last = make_event();
  } else {
    next.last = captures_.front().last;
    captures_.erase(captures_.begin());
  }
  next.id = id;
  captures_.push_back(next);
  return captures_.back();
}

void cuda_stream_order::record_late(CUstream captured) {
  if (recorded_) return;
  const std::lock_guard lock(made_.mutex);  // the lock prevents the destruction of the stream during the check
  const bool lives = last_ == CU_STREAM_LEGACY || made_.numbers.count(last_number_) != 0;
  if (lives) {
    if (capture_of(last_).id != 0) {
      // The captured work follows the stream's earlier work if the graph is launched on this stream. If the graph is
      // launched on another stream, this code cannot order the work, so collective.hpp asks the program to synchronise
      // the stream. A better solution is not known:
      // - CUDA tells a library neither that a capture begins nor that a graph is launched. During the capture, CUDA
      //   refuses to record, query or synchronise the earlier work of the stream, and invalidates the capture. A record
      //   of the whole context (cuCtxRecordEvent) also invalidates the capture.
      // - An event after each eager collective would work. It costs 0.5 us and prevents the early set-up of the next
      //   kernel.
      // - A count in memory of the completed eager collectives would also work. Every grid would have to count its own
      //   blocks first, because the last block to end writes the count.
      // - Refusing the capture would refuse most programs: they make a first call on a stream, capture the same stream,
      //   and launch the graph on the same stream.
      if (last_ == captured) return;
      throw error(code::capturing,
                  "the last collective of this team is on a stream that is now being captured into a CUDA graph, so no "
                  "other stream can wait for it: end the capture first, or enqueue the first collective of the capture "
                  "on that stream");
    }
    check(driver().event_record(event_, last_), "recording an event");
  }
  recorded_ = true;
}

void cuda_stream_order::before_captured(CUstream stream, cuuint64_t id) {
  // A wait for an event of the same capture adds an edge to the graph, but no node. On one stream the edge already
  // exists.
  if (const capture* const known = find(id)) {
    check(driver().stream_wait_event(stream, known->last, CU_EVENT_WAIT_DEFAULT), "ordering two streams of a capture");
    return;
  }
  record_late(stream);
  check(driver().stream_wait_event(stream, event_, CU_EVENT_WAIT_EXTERNAL), "waiting for an event in a capture");
}

bool cuda_stream_order::before(void* stream) {
  const in_context current(context_);
  const auto on = static_cast<CUstream>(stream);
  if (capture_ = capture_of(on).id; capture_ != 0) {
    before_captured(on, capture_);
    return true;
  }
  number_ = number_of_stream(on);  // during a capture CUDA does not report the number of a stream
  if (!enqueued_ && !captured_) return false;
  if (!captured_ && number_ == last_number_) return false;
  record_late(nullptr);
  check(driver().stream_wait_event(on, event_, CU_EVENT_WAIT_DEFAULT), "ordering two streams");
  return false;
}

void cuda_stream_order::after_captured(CUstream stream) {
  captured_ = true;
  capture& entry = entry_of(capture_);
  const capture_state now = capture_of(stream);
  if (entry.record == nullptr) {
    check(driver().graph_add_record(&entry.record, now.graph, now.last, now.count, event_),
          "recording an event in a capture");
  } else {
    const std::vector<CUgraphNode> to(std::max(now.count, entry.before.size()), entry.record);
    check(driver().graph_remove_edges(now.graph, entry.before.data(), to.data(), nullptr, entry.before.size()),
          "moving the record of an event in a capture");
    check(driver().graph_add_edges(now.graph, now.last, to.data(), nullptr, now.count),
          "moving the record of an event in a capture");
  }
  entry.before.assign(now.last, now.last + now.count);
  check(driver().event_record(entry.last, stream), "marking the last work of a capture");
}

void cuda_stream_order::after(void* stream) {
  const in_context current(context_);
  const auto on = static_cast<CUstream>(stream);
  if (capture_ != 0) return after_captured(on);
  if (number_ != last_number_ || !enqueued_) {
    const std::lock_guard lock(made_.mutex);
    lasting_ = on == CU_STREAM_LEGACY || made_.numbers.count(number_) != 0;
  }
  last_ = on;
  last_number_ = number_;
  enqueued_ = true;
  recorded_ = !lasting_ || captured_;
  if (recorded_) check(driver().event_record(event_, on), "recording an event");
}

}  // namespace pgas::detail::cuda
