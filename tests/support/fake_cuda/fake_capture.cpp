#include "fake_capture.hpp"

#include <algorithm>
#include <chrono>

namespace fake_cuda {

namespace {

thread_local CUstreamCaptureMode thread_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

}  // namespace

node* graph::add(std::function<void(stream&)> enqueue, const std::vector<node*>& before) {
  nodes_.push_back(std::make_shared<node>(node{std::move(enqueue)}));
  for (node* const each : before) add_edge(each, nodes_.back().get());
  return nodes_.back().get();
}

bool graph::remove_edge(node* from, node* to) {
  const auto found = std::find(edges_.begin(), edges_.end(), std::pair(from, to));
  if (found == edges_.end()) return false;
  edges_.erase(found);
  return true;
}

void graph::launch(stream& on) const {
  std::vector<node*> left;
  for (const auto& each : nodes_) left.push_back(each.get());
  const auto waits = [&](node* which) {
    return std::any_of(edges_.begin(), edges_.end(), [&](const auto& edge) {
      return edge.second == which && std::find(left.begin(), left.end(), edge.first) != left.end();
    });
  };
  while (!left.empty()) {
    const auto next = std::find_if_not(left.begin(), left.end(), waits);
    (*next)->enqueue(on);
    left.erase(next);
  }
}

captures& captures::get() {
  static auto& all = *new captures;  // threads of streams may use it at process exit
  return all;
}

std::vector<node*>* captures::capture::last_of(const std::shared_ptr<stream>& which) {
  const auto found =
      std::find_if(streams.begin(), streams.end(), [&](const auto& each) { return each.first == which; });
  return found != streams.end() ? &found->second : nullptr;
}

bool captures::capture::is_implicit() const {
  return std::any_of(streams.begin(), streams.end(), [](const auto& each) { return each.first->waits_for_legacy; });
}

captures::capture* captures::find(const std::shared_ptr<stream>& which) {
  for (const auto& each : active_)
    if (each->last_of(which) != nullptr) return each.get();
  return nullptr;
}

captures::capture* captures::implicit_for(const std::shared_ptr<stream>& which) {
  if (!which->is_legacy) return nullptr;
  for (const auto& each : active_)
    if (each->is_implicit()) return each.get();
  return nullptr;
}

CUresult captures::begin(const std::shared_ptr<stream>& origin, CUstreamCaptureMode mode) {
  const std::lock_guard lock(mutex_);
  if (origin->is_legacy || find(origin) != nullptr) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  auto item = std::make_unique<capture>();
  item->id = next_++;
  item->mode = mode;
  item->thread = std::this_thread::get_id();
  item->origin = origin;
  item->streams.push_back({origin, {}});
  active_.push_back(std::move(item));
  return CUDA_SUCCESS;
}

CUresult captures::end(const std::shared_ptr<stream>& origin, CUgraph* result) {
  const std::lock_guard lock(mutex_);
  *result = nullptr;
  capture* const found = find(origin);
  if (found == nullptr) return CUDA_ERROR_ILLEGAL_STATE;
  if (found->origin != origin) return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
  if (found->mode != CU_STREAM_CAPTURE_MODE_RELAXED && found->thread != std::this_thread::get_id())
    return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
  if (found->valid) *result = reinterpret_cast<CUgraph>(found->nodes.release());
  const CUresult state = found->valid ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  std::erase_if(marks_, [&](const auto& each) { return each.second.capture == found->id; });
  std::erase_if(active_, [&](const auto& each) { return each.get() == found; });
  return state;
}

std::optional<CUresult> captures::add(const std::shared_ptr<stream>& to, std::function<void(stream&)> enqueue) {
  const std::lock_guard lock(mutex_);
  if (capture* const other = implicit_for(to)) {
    other->valid = false;
    return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
  }
  capture* const in = find(to);
  if (in == nullptr) return std::nullopt;
  if (!in->valid) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  std::vector<node*>& last = *in->last_of(to);
  last = {in->nodes->add(std::move(enqueue), last)};
  return CUDA_SUCCESS;
}

CUresult captures::info(const std::shared_ptr<stream>& which, CUstreamCaptureStatus* status, cuuint64_t* id,
                        CUgraph* of, const CUgraphNode** last, std::size_t* count) {
  const std::lock_guard lock(mutex_);
  *status = CU_STREAM_CAPTURE_STATUS_NONE;
  if (implicit_for(which) != nullptr) return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
  capture* const in = find(which);
  if (in == nullptr) return CUDA_SUCCESS;
  *status = in->valid ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_INVALIDATED;
  const std::vector<node*>& nodes = *in->last_of(which);
  if (id != nullptr) *id = in->id;
  if (of != nullptr) *of = reinterpret_cast<CUgraph>(in->nodes.get());
  if (last != nullptr) *last = reinterpret_cast<const CUgraphNode*>(nodes.data());
  if (count != nullptr) *count = nodes.size();
  return CUDA_SUCCESS;
}

std::optional<CUresult> captures::record(const std::shared_ptr<stream>& on, event& which) {
  const std::lock_guard lock(mutex_);
  std::erase_if(marks_, [&](const auto& each) { return each.first == &which; });
  if (capture* const other = implicit_for(on)) {
    other->valid = false;
    return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
  }
  capture* const in = find(on);
  if (in == nullptr) return std::nullopt;
  if (!in->valid) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  marks_.push_back({&which, {in->id, *in->last_of(on)}});
  return CUDA_SUCCESS;
}

std::optional<CUresult> captures::wait(const std::shared_ptr<stream>& on, event& which, bool external) {
  const std::lock_guard lock(mutex_);
  capture* const in = find(on);
  const auto marked =
      std::find_if(marks_.begin(), marks_.end(), [&](const auto& each) { return each.first == &which; });
  if (marked == marks_.end()) {
    if (in == nullptr) return std::nullopt;
    if (!in->valid) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (!external) {
      in->valid = false;
      return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
    }
    std::vector<node*>& last = *in->last_of(on);
    last = {in->nodes->add([&which](stream& launched) { launched.enqueue_wait(which.passed()); }, last)};
    return CUDA_SUCCESS;
  }
  const auto from = std::find_if(active_.begin(), active_.end(),
                                 [&](const auto& each) { return each->id == marked->second.capture; });
  if (in != nullptr && in != from->get()) {
    in->valid = (*from)->valid = false;
    return CUDA_ERROR_STREAM_CAPTURE_MERGE;
  }
  if (in == nullptr) (*from)->streams.push_back({on, {}});
  std::vector<node*>& last = *(*from)->last_of(on);
  for (node* const each : marked->second.last)
    if (std::find(last.begin(), last.end(), each) == last.end()) last.push_back(each);
  return CUDA_SUCCESS;
}

CUresult captures::refuse_unsafe() {
  if (thread_mode == CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_SUCCESS;
  const std::lock_guard lock(mutex_);
  CUresult result = CUDA_SUCCESS;
  for (const auto& each : active_) {
    const bool own = each->thread == std::this_thread::get_id() && each->mode != CU_STREAM_CAPTURE_MODE_RELAXED;
    const bool other = each->mode == CU_STREAM_CAPTURE_MODE_GLOBAL && thread_mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
    if (!own && !other) continue;
    each->valid = false;
    result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  return result;
}

CUresult captures::refuse_waits(const std::shared_ptr<stream>& which) {
  const std::lock_guard lock(mutex_);
  if (implicit_for(which) != nullptr) return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
  capture* const in = find(which);
  if (in == nullptr) return CUDA_SUCCESS;
  in->valid = false;
  return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

CUresult captures::refuse_any() {
  const std::lock_guard lock(mutex_);
  for (const auto& each : active_) each->valid = false;
  return active_.empty() ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

CUresult captures::refuse_captured(const event& which) {
  const std::lock_guard lock(mutex_);
  const bool marked = std::any_of(marks_.begin(), marks_.end(), [&](const auto& each) { return each.first == &which; });
  return marked ? CUDA_ERROR_CAPTURED_EVENT : CUDA_SUCCESS;
}

void captures::forget(const event& which) {
  const std::lock_guard lock(mutex_);
  std::erase_if(marks_, [&](const auto& each) { return each.first == &which; });
}

void captures::exchange_mode(CUstreamCaptureMode* mode) { std::swap(thread_mode, *mode); }

}  // namespace fake_cuda
