/// @file
/// Stream captures and graphs of the fake driver. A graph runs its nodes one after another, in an order that its edges
/// allow.
#pragma once

#include <cuda.h>

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "fake_stream.hpp"

namespace fake_cuda {

/// A part of a graph. A CUgraphNode is the address of a node.
struct node {
  std::function<void(stream&)> enqueue;  ///< enqueues the work of the node on the stream of a launch
};

/// A CUgraph, and a CUgraphExec, is the address of a graph.
class graph {
 public:
  node* add(std::function<void(stream&)> enqueue, const std::vector<node*>& before);
  void add_edge(node* from, node* to) { edges_.emplace_back(from, to); }
  /// Returns false if there is no such edge.
  [[nodiscard]] bool remove_edge(node* from, node* to);
  /// Enqueues all nodes on a stream.
  void launch(stream& on) const;

 private:
  std::vector<std::shared_ptr<node>> nodes_;
  std::vector<std::pair<node*, node*>> edges_;
};

/// All captures of the process. As in CUDA, a call that a capture forbids invalidates the capture.
class captures {
 public:
  static captures& get();

  CUresult begin(const std::shared_ptr<stream>& origin, CUstreamCaptureMode mode);
  CUresult end(const std::shared_ptr<stream>& origin, CUgraph* result);
  /// Adds work to the capture of a stream. Returns nullopt if the stream is in no capture and the work disturbs no
  /// capture.
  [[nodiscard]] std::optional<CUresult> add(const std::shared_ptr<stream>& to, std::function<void(stream&)> enqueue);
  CUresult info(const std::shared_ptr<stream>& which, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* of,
                const CUgraphNode** last, std::size_t* count);
  /// Returns nullopt if the stream is in no capture. The event then records the work of the stream.
  [[nodiscard]] std::optional<CUresult> record(const std::shared_ptr<stream>& on, event& which);
  /// Returns nullopt if neither the stream nor the event is in a capture.
  [[nodiscard]] std::optional<CUresult> wait(const std::shared_ptr<stream>& on, event& which, bool external);

  /// A call that CUDA calls potentially unsafe in captures, such as cuMemAlloc.
  CUresult refuse_unsafe();
  /// A call that would wait for the stream.
  CUresult refuse_waits(const std::shared_ptr<stream>& which);
  /// A call that would wait for all streams.
  CUresult refuse_any();
  CUresult refuse_captured(const event& which);
  /// Called before an event is destroyed.
  void forget(const event& which);
  static void exchange_mode(CUstreamCaptureMode* mode);

 private:
  struct capture {
    cuuint64_t id = 0;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
    std::thread::id thread;
    bool valid = true;
    std::shared_ptr<stream> origin;
    std::vector<std::pair<std::shared_ptr<stream>, std::vector<node*>>> streams;  ///< the streams of the capture, and
                                                                                  ///< the last nodes of each stream
    std::unique_ptr<graph> nodes = std::make_unique<graph>();

    [[nodiscard]] std::vector<node*>* last_of(const std::shared_ptr<stream>& which);
    [[nodiscard]] bool is_implicit() const;  ///< whether a stream waits for the legacy stream
  };
  struct mark {
    cuuint64_t capture;
    std::vector<node*> last;
  };

  [[nodiscard]] capture* find(const std::shared_ptr<stream>& which);
  [[nodiscard]] capture* implicit_for(const std::shared_ptr<stream>& which);

  std::mutex mutex_;
  cuuint64_t next_ = 1;
  std::vector<std::unique_ptr<capture>> active_;
  std::vector<std::pair<const event*, mark>> marks_;  ///< the events that were last recorded in a capture
};

}  // namespace fake_cuda
