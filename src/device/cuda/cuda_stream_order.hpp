/// @file
/// The order of work on several CUDA streams, also in captures.
#pragma once

#include <cstdint>
#include <mutex>
#include <set>
#include <vector>

#include "device/cuda/context_scope.hpp"
#include "device/stream_order.hpp"

namespace pgas::detail::cuda {

/// The numbers of the streams that the library has made and not destroyed yet. Two streams of a process never have the
/// same number. The destruction of one of these streams waits for its work.
struct live_streams {
  std::mutex mutex;
  std::set<unsigned long long> numbers;
};

/// The number of a stream. *Callers* a thread with a current context.
[[nodiscard]] unsigned long long number_of_stream(CUstream stream);

/// Orders work by a single event, which is recorded after the last work.
///
/// An event between two kernels of a stream prevents the early set-up of the second kernel. So the event is recorded
/// after each piece of work only on streams that the program can destroy, because a destroyed stream must not be used.
/// On streams of the library, and on the legacy default stream, the event is recorded only when the next piece of work
/// is on another stream.
///
/// In a capture, a piece of work depends on the previous piece of the same capture. An event node before the first
/// piece waits for the event, and a node after the last piece records the event. So the work of a launched graph runs
/// after all work that was enqueued or launched before the graph, and before all later work, on any stream. Between two
/// pieces of work the graph needs no node. The library does not see launches of graphs. From the first capture on, all
/// work therefore waits for the event and records it.
class cuda_stream_order final : public stream_order {
 public:
  /// @param made the streams that the library has made
  cuda_stream_order(CUcontext context, live_streams& result);
  ~cuda_stream_order() override;

  bool before(void* stream) override;
  void after(void* stream) override;

 private:
  /// A capture that contains work of this order.
  struct capture {
    cuuint64_t id = 0;
    CUgraphNode record = nullptr;     ///< the node that records the event after the last work
    std::vector<CUgraphNode> before;  ///< the nodes that the record node depends on
    CUevent last = nullptr;           ///< an event recorded within the capture, which adds edges and no node
  };
  /// The capture that a stream belongs to.
  struct capture_state {
    cuuint64_t id = 0;  ///< 0 if the stream is not being captured
    CUgraph graph = nullptr;
    const CUgraphNode* last = nullptr;  ///< the nodes on which the stream's next node will depend
    std::size_t count = 0;
  };
  [[nodiscard]] static capture_state capture_of(CUstream stream);
  [[nodiscard]] static CUevent make_event();
  /// The entry of the capture. If the table is full, a new entry replaces the oldest entry.
  [[nodiscard]] capture& entry_of(cuuint64_t id);
  [[nodiscard]] capture* find(cuuint64_t id);
  /// Records the event after the last work, if it is not recorded yet.
  /// @param captured the stream whose capture must wait for the event; null: no stream
  void record_late(CUstream captured);
  void before_captured(CUstream stream, cuuint64_t id);
  void after_captured(CUstream stream);

  const CUcontext context_;
  live_streams& made_;
  CUevent event_ = nullptr;
  cuuint64_t capture_ = 0;         ///< the capture that before() has found
  unsigned long long number_ = 0;  ///< the number of the stream that was passed to before()
  CUstream last_ = nullptr;
  unsigned long long last_number_ = 0;
  bool enqueued_ = false;  ///< whether work was enqueued outside of captures
  bool recorded_ = true;   ///< whether the event was recorded after the last work
  bool captured_ = false;  ///< whether work was ever captured
  bool lasting_ = false;   ///< whether the last stream is one that the program does not destroy
  std::vector<capture> captures_;
};

}  // namespace pgas::detail::cuda
