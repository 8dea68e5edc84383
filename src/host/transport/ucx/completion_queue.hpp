/// @file
/// Events of UCX's callbacks that the transport handles later, outside of UCX.
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

/// The longest messages that are sent in one buffer with their header: UCX writes a message that fits an element of its
/// shared-memory queues straight into it, but not a header and data. (100 bytes, less UCX's own header. The gain shows
/// in `ucx_perftest -t ucp_am_lat -s 16` and `-s 96`.)
inline constexpr std::size_t ucx_packed_bytes = 92;

/// Operations that end together: any number of puts and the flush behind them, or one other operation.
struct ucx_batch {
  ucx_endpoint* peer = nullptr;
  std::uint64_t key = 0;  ///< in ucx_completion_queue
  int pending = 0;        ///< requests of UCX in flight, and 1 as long as puts may still be added
  ucs_status_t status = UCS_OK;
  std::vector<transport_token> tokens;
  std::array<std::byte, ucx_packed_bytes> packed{};  ///< a small message and its header, until UCX has sent it
};

/// Owns the batches and lists the events. *Memory* batches keep their addresses, which UCX holds, until this is
/// destroyed: after the worker.
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

  /// A request of the batch has ended.
  void request_ended(ucx_batch& batch, ucs_status_t status) {
    if (status != UCS_OK) batch.status = status;
    if (--batch.pending == 0) ended_.push_back(&batch);
  }
  /// The peer has puts that need a flush.
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
