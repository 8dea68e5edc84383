/// @file
/// The clock for rows that a host enqueues on a stream.
#pragma once

#include <algorithm>

#include "data.hpp"

namespace side_by_side {

/// Returns the seconds in which the GPU executes the work that `calls` enqueues.
template <class Calls>
double stream_seconds(cudaStream_t stream, Calls calls) {
  cudaEvent_t start, end;
  must(cudaEventCreate(&start), "an event");
  must(cudaEventCreate(&end), "an event");
  must(cudaEventRecord(start, stream), "an event");
  calls();
  must(cudaEventRecord(end, stream), "an event");
  must(cudaStreamSynchronize(stream), "a stream");
  float milliseconds = 0;
  must(cudaEventElapsedTime(&milliseconds, start, end), "an event");
  must(cudaEventDestroy(start), "an event");
  must(cudaEventDestroy(end), "an event");
  return milliseconds / 1e3;
}

/// Returns the seconds in which the GPU executes `iterations` calls without pauses. A few earlier calls are not timed.
template <class Call>
double on_stream(cudaStream_t stream, int iterations, Call call) {
  for (int i = 0; i < std::min(iterations, 5); ++i) call();
  return stream_seconds(stream, [&] {
    for (int i = 0; i < iterations; ++i) call();
  });
}

}  // namespace side_by_side
