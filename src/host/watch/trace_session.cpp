#include "host/watch/trace_session.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <utility>

#include "common/output_file.hpp"
#include "common/trace/document.hpp"
#include "pgas/error.hpp"

namespace pgas::detail {

namespace {

/// Returns the path of the file. A process that joins several worlds writes one file for each world.
std::string path_of(const std::string& pattern, int pe) {
  static std::atomic<int> worlds{0};
  std::string path = output_file_name(pattern, pe);
  if (!names_process(pattern)) path += fmt::format(".{}", pe);
  if (const int before = worlds.fetch_add(1); before > 0) path += fmt::format(".world{}", before + 1);
  return path;
}

trace::track track_of(const trace::recorder::thread_events& from, const clock_mapping& to_first,
                      std::map<std::uint64_t, trace::track>& streams) {
  const bool is_proxy = from.name == "pgas-proxy";
  trace::track result{is_proxy ? "proxy" : fmt::format("thread {} ({})", from.thread, from.name), {}};
  result.events.reserve(from.events.size());
  for (const trace::recorded_event& item : from.events) {
    trace::event event{item.facts, item.name, {}, {}};
    event.facts.begin = to_first.mapped(item.facts.begin);
    event.facts.end = to_first.mapped(item.facts.end);
    if (item.facts.by == trace::caller::stream) {
      // The host knows the time at which work was enqueued, not the time at which the work was done.
      trace::event enqueued;
      enqueued.name = event.name;
      enqueued.facts.by = trace::caller::stream;
      enqueued.facts.peer = item.facts.peer;
      enqueued.facts.begin = enqueued.facts.end = event.facts.end;
      streams[item.facts.stream].events.push_back(std::move(enqueued));
    }
    result.events.push_back(std::move(event));
  }
  return result;
}

}  // namespace

trace_session::trace_session(const std::string& pattern, int pe, int n_pes)
    : pe_(pe), n_pes_(n_pes), path_(path_of(pattern, pe)) {
  std::string why;
  file_ = open_output_file(path_, O_TRUNC, why);
  if (!file_)
    throw error(code::config_value, fmt::format("PGAS_TRACE={}: can't make the file {}: {}", pattern, path_, why), pe);
}

void trace_session::compared(const clock_comparison& clocks) {
  (begin_ ? end_ : begin_) = clocks;
  if (kernels_) kernels_->compare_clock();
}

trace_area* trace_session::make_area(device& on, std::uint32_t every) { return kernels_.emplace(on, every).area(); }

void trace_session::write(const peer_info& me, const std::function<bool(int pe)>& direct, log::logger& log) noexcept {
  events_.close();
  if (!file_) return;
  const unique_fd file(std::move(file_));
  // Moves the recording of kernels to a local variable, so that this call frees its memory. The device may be destroyed
  // after the call.
  std::optional<kernel_recording> of_kernels = std::exchange(kernels_, std::nullopt);
  if (!begin_) {
    ::unlink(path_.c_str());
    return;
  }
  try {
    const std::int64_t last = trace::now_ns();
    const clock_mapping to_first =
        end_ ? clock_mapping(begin_->to_first, end_->to_first) : clock_mapping(begin_->to_first, last);
    trace::pe_trace result;
    result.pe = pe_;
    result.pes = n_pes_;
    result.host = me.host;
    result.pid = me.pid;
    result.job = fmt::format("{:016x}", begin_->job);
    result.begin = to_first.mapped(begin_->to_first.at);
    result.end = to_first.mapped(last);
    result.clock_error = to_first.error();
    result.lost = events_.lost();
    std::map<std::uint64_t, trace::track> streams;
    for (const trace::recorder::thread_events& thread : events_.take()) {
      result.lost += thread.lost;
      result.tracks.push_back(track_of(thread, to_first, streams));
    }
    if (of_kernels) {
      kernel_tracks kernels = of_kernels->take(direct);
      result.clock_error += of_kernels->clock_error();
      result.lost += kernels.lost;
      for (trace::track& track : kernels.tracks) {
        for (trace::event& each : track.events) {
          each.facts.begin = to_first.mapped(each.facts.begin);
          each.facts.end = to_first.mapped(each.facts.end);
        }
        result.tracks.push_back(std::move(track));
      }
    }
    int number = 0;
    for (auto& [handle, track] : streams) {
      track.name = handle == 0 ? "stream 0, the default stream" : fmt::format("stream {}", ++number);
      result.tracks.push_back(std::move(track));
    }
    if (const int failed = write_all(file.get(), trace::write_perfetto({{std::move(result)}})); failed != 0)
      log.warn("the trace could not be written to {}: {}", path_, std::strerror(failed));
    if (result.lost != 0)
      log.warn(
          "{} events of the trace are lost: {} host threads keep their last {} each, and {} rings of kernels {}; "
          "record a shorter run, or set PGAS_TRACE_SAMPLE for kernels",
          result.lost, trace::recorder::most_threads, trace::recorder::usual_events, trace_area::rings,
          trace_area::ring_events);
  } catch (const std::exception& failed) {
    log.warn("the trace could not be written to {}: {}", path_, failed.what());
  }
}

}  // namespace pgas::detail
