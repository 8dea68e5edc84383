/// @file
/// What connections and UCX's callbacks leave for the transport to see to.
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <utility>
#include <vector>

#include "host/transport/transport.hpp"
#include "host/transport/ucx/library.hpp"

namespace pgas::detail {

class ucx_peer;

/// How long messages are that go with their header in one piece: UCX writes what fits an element of its queues in
/// shared memory straight into it, but not a header and data. (100 bytes, less UCX's own header. What that saves is
/// seen with `ucx_perftest -t ucp_am_lat -s 16` and `-s 96`.)
inline constexpr std::size_t ucx_piece_bytes = 92;

/// Operations that end together: any number of puts and the flush behind them, or one other operation.
struct ucx_batch {
  ucx_peer* peer = nullptr;
  int pending = 0;  ///< requests of UCX under way, and 1 as long as puts may still be added
  ucs_status_t status = UCS_OK;
  std::vector<transport_token> tokens;
  std::array<std::byte, ucx_piece_bytes> piece{};  ///< a small message and its header, which UCX reads until it is out
};

/// Keeps batches for reuse and lists what has happened. Batches stay where they are until the ledger goes, which has to
/// outlive the worker: UCX holds their addresses.
class ucx_ledger {
 public:
  [[nodiscard]] ucx_batch& take(ucx_peer& peer, int pending) {
    if (free_.empty()) free_.push_back(&all_.emplace_back());
    ucx_batch& batch = *free_.back();
    free_.pop_back();
    batch.peer = &peer;
    batch.pending = pending;
    batch.status = UCS_OK;
    return batch;
  }
  void release(ucx_batch& batch) {
    batch.tokens.clear();
    free_.push_back(&batch);
  }
  /// One request fewer.
  void ended(ucx_batch& batch, ucs_status_t status) {
    if (status != UCS_OK) batch.status = status;
    if (--batch.pending == 0) ended_.push_back(&batch);
  }
  void has_puts(ucx_peer& peer) { to_flush_.push_back(&peer); }
  void failed(ucx_peer& peer) { failed_.push_back(&peer); }

  [[nodiscard]] bool anything_to_see_to() const noexcept {
    return !ended_.empty() || !to_flush_.empty() || !failed_.empty();
  }
  [[nodiscard]] std::vector<ucx_batch*> take_ended() { return std::exchange(ended_, {}); }
  [[nodiscard]] std::vector<ucx_peer*> take_to_flush() { return std::exchange(to_flush_, {}); }
  [[nodiscard]] std::vector<ucx_peer*> take_failed() { return std::exchange(failed_, {}); }

 private:
  std::deque<ucx_batch> all_;
  std::vector<ucx_batch*> free_;
  std::vector<ucx_batch*> ended_;
  std::vector<ucx_peer*> to_flush_;
  std::vector<ucx_peer*> failed_;
};

}  // namespace pgas::detail
