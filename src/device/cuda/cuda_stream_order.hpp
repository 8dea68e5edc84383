/// @file
/// The order of work on several CUDA streams, in captures too.
#pragma once

#include <cstdint>
#include <mutex>
#include <set>
#include <vector>

#include "device/cuda/context_scope.hpp"
#include "device/stream_order.hpp"

namespace pgas::detail::cuda {

/// The streams that the library has made and not yet destroyed, by their numbers, which no two streams of a process
/// share. Destroying such a stream waits for its work.
struct live_streams {
  std::mutex mutex;
  std::set<unsigned long long> numbers;
};

/// The number of a stream. *Callers* a context is current.
[[nodiscard]] unsigned long long number_of_stream(cudaStream_t stream);

/// The order by one event, which stands for the last work.
///
/// An event between two kernels of a stream costs the early set-up of the second one. So the event is recorded after
/// each piece of work only on streams that the program may destroy, as a destroyed stream must not be touched. On
/// streams that the library makes, and on the legacy default stream, it is recorded when the stream changes.
///
/// A piece of work in a capture depends on the one before it in the same capture. An event node before the first one
/// waits for the event, and one after the last records it: whenever the graph is launched, on whatever stream, its work
/// runs after the work that was enqueued or launched before, and what comes later runs after it. No node is between two
/// pieces of work. The library does not see launches of graphs: from the first capture on, all work waits for the event
/// and records it.
class cuda_stream_order final : public stream_order {
 public:
  /// @param made the streams that the library has made
  cuda_stream_order(CUcontext context, live_streams& made);
  ~cuda_stream_order() override;

  bool before(void* stream) override;
  void after(void* stream) override;

 private:
  /// A capture that has such work.
  struct capture {
    unsigned long long id = 0;
    cudaGraphNode_t record = nullptr;     ///< of the event, behind the last work
    std::vector<cudaGraphNode_t> before;  ///< what it depends on
    cudaEvent_t last = nullptr;           ///< recorded within the capture: gives edges, makes no node
  };
  /// The capture that a stream is in.
  struct capture_state {
    unsigned long long id = 0;  ///< 0: none
    cudaGraph_t graph = nullptr;
    const cudaGraphNode_t* last = nullptr;  ///< what the stream's next node will depend on
    std::size_t count = 0;
  };
  [[nodiscard]] static capture_state capture_of(cudaStream_t stream);
  [[nodiscard]] static cudaEvent_t make_event();
  /// The capture's entry. A new one takes the place of the oldest where there are many.
  [[nodiscard]] capture& entry_of(unsigned long long id);
  [[nodiscard]] capture* find(unsigned long long id);
  /// Has the event stand for the last work. @param captured the stream whose capture is to wait for it; null: none
  void record_late(cudaStream_t captured);
  void before_captured(cudaStream_t stream, unsigned long long id);
  void after_captured(cudaStream_t stream);

  const CUcontext context_;
  live_streams& made_;
  cudaEvent_t event_ = nullptr;
  unsigned long long capture_ = 0;  ///< that before() has found
  unsigned long long number_ = 0;   ///< of the stream of before()
  cudaStream_t last_ = nullptr;
  unsigned long long last_number_ = 0;
  bool enqueued_ = false;  ///< some work, outside of captures
  bool recorded_ = true;   ///< the event stands for the last work
  bool captured_ = false;  ///< some work, ever
  bool lasting_ = false;   ///< the last stream is not destroyed by the program
  std::vector<capture> captures_;
};

}  // namespace pgas::detail::cuda
