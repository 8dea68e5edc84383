/// @file
/// The events that UCX's callbacks record. The transport handles the events later, outside of UCX.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "common/slot_map.hpp"
#include "host/transport/transport.hpp"
#include "host/transport/ucx/libucp.hpp"

namespace pgas::detail {

class ucx_endpoint;

/// The size of the longest message that is sent in one buffer with its header. UCX writes a small message straight into
/// an element of its shared-memory queue if the message is one buffer. UCX does not do this if header and data are in
/// separate buffers. (The element has 100 bytes, including UCX's own header. `ucx_perftest -t ucp_am_lat -s 16` and `-s
/// 96` show the gain.)
inline constexpr std::size_t ucx_packed_bytes = 92;

/// Operations that end together: any number of puts and the flush after them, or one other operation.
struct ucx_batch {
  ucx_endpoint* peer = nullptr;
  std::uint64_t key = 0;  ///< the key in ucx_completion_queue
  int pending = 0;        ///< the number of UCX requests in flight, plus 1 while puts can still be added
  ucs_status_t status = UCS_OK;
  std::vector<transport_token> tokens;
  std::array<std::byte, ucx_packed_bytes> packed{};  ///< a small message with its header, kept until UCX has sent it
};

/// Owns the batches and lists the events. *Memory* batches do not move, because UCX stores their addresses. The worker
/// must be destroyed before this object.
class ucx_completion_queue {
 public:
  [[nodiscard]] ucx_batch& take(ucx_endpoint& peer, int pending) {
    const std::uint64_t key = batches_.take();
    std::unique_ptr<ucx_batch>& slot = batches_[key];
    if (slot == nullptr) slot = std::make_unique<ucx_batch>();
    slot->peer = &peer;
    slot->key = key;
    slot->pending = pending;
    slot->status = UCS_OK;
    return *slot;
  }
  void release(ucx_batch& batch) {
    batch.tokens.clear();
    batches_.release(batch.key);
  }

  /// Records that a request of the batch has ended.
  void request_ended(ucx_batch& batch, ucs_status_t status) {
    if (status != UCS_OK) batch.status = status;
    if (--batch.pending == 0) ended_.push_back(&batch);
  }
  /// Adds a peer whose puts need a flush.
  void add_unflushed(ucx_endpoint& peer) { unflushed_.push_back(&peer); }
  void add_failed(ucx_endpoint& peer) { failed_.push_back(&peer); }

  [[nodiscard]] bool any() const noexcept { return !ended_.empty() || !unflushed_.empty() || !failed_.empty(); }
  [[nodiscard]] std::vector<ucx_batch*> take_ended() { return std::exchange(ended_, {}); }
  [[nodiscard]] std::vector<ucx_endpoint*> take_unflushed() { return std::exchange(unflushed_, {}); }
  [[nodiscard]] std::vector<ucx_endpoint*> take_failed() { return std::exchange(failed_, {}); }

 private:
  slot_map<std::unique_ptr<ucx_batch>> batches_;
  std::vector<ucx_batch*> ended_;
  std::vector<ucx_endpoint*> unflushed_;
  std::vector<ucx_endpoint*> failed_;
};

}  // namespace pgas::detail
