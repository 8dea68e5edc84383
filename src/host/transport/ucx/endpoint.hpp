/// @file
/// The connection to one PE, and the keys of its memory.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "host/transport/ucx/completion_queue.hpp"
#include "host/transport/ucx/worker.hpp"
#include "pgas/bootstrap.hpp"

namespace pgas::detail {

/// The header of each message.
struct ucx_header {
  enum class kind : std::uint32_t {
    data,
    /// The sender has connected; the receiver connects too, so that each side detects the death of the other.
    connect,
    disconnect,  ///< the sender's operations are complete, and the sender starts no more
  };
  std::uint32_t magic = expected_magic;
  kind what = kind::data;
  std::int32_t pe = 0;  ///< the PE number of the sender

  static constexpr std::uint32_t expected_magic = 0x7058'5347;
};

/// The key of exposed memory that PEs exchange: the address of the memory and UCX's remote key.
///
/// UCX does not check a remote key that it unpacks, so a checksum detects truncated and mixed-up keys. The checksum
/// does not prevent forgery: keys come from members of the job.
struct ucx_memory_key {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  blob rkey;  ///< the result of ucp_rkey_pack()

  [[nodiscard]] blob packed() const;
  /// @param pe the sender, for the error *Errors* handle_invalid for bytes that are not from packed().
  [[nodiscard]] static ucx_memory_key unpack(int pe, std::span<const std::byte> packed);
};

/// An endpoint, made at the first operation, and its requests in flight. The class never calls transport_events. It
/// reports events to ucx_completion_queue, and the transport handles the events later.
class ucx_endpoint {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  ucx_endpoint(int pe, int me, blob address, const ucx_worker& worker, ucx_completion_queue& completions);
  ucx_endpoint(const ucx_endpoint&) = delete;
  ucx_endpoint& operator=(const ucx_endpoint&) = delete;

  [[nodiscard]] int pe() const noexcept { return pe_; }
  [[nodiscard]] bool connected() const noexcept { return endpoint_ != nullptr; }
  /// The reason why the connection has failed; empty while the connection works.
  [[nodiscard]] const std::optional<std::string>& failure() const noexcept { return failure_; }
  void fail(const std::string& why);
  [[nodiscard]] std::string route() const;

  /// Makes the endpoint if it does not exist yet.
  void connect();
  void put(std::uint64_t imported, const ucx_memory_key& key, std::uint64_t offset, const void* local,
           std::size_t bytes, transport_token token);
  void get(std::uint64_t imported, const ucx_memory_key& key, std::uint64_t offset, void* local, std::size_t bytes,
           transport_token token);
  void send(ucx_header::kind what, std::span<const std::byte> message, std::optional<transport_token> token);
  /// Starts a flush. UCX reports when all earlier puts are complete at the target.
  void flush();
  void forget(std::uint64_t imported) noexcept;

  /// Called when a disconnect message of the peer has arrived.
  void note_disconnect() noexcept { peer_disconnected_ = true; }
  /// Counts operations that were reported as done.
  void completed(std::size_t operations) noexcept { incomplete_ -= operations; }
  /// Whether the failure is a loss. The failure is not a loss if the peer has disconnected and all operations to the
  /// peer are complete.
  [[nodiscard]] bool is_lost() const noexcept { return failure_ && (!peer_disconnected_ || incomplete_ > 0); }

  /// Whether UCX has no requests in flight for this endpoint.
  [[nodiscard]] bool idle() const noexcept { return requests_ == 0; }
  /// After a failure: closes the endpoint as soon as that is safe. Returns whether it is closed.
  [[nodiscard]] bool close_after_failure() noexcept;
  /// Makes one step of the disconnect: completes operations, then sends the disconnect message. Returns whether both
  /// sides have sent their messages.
  [[nodiscard]] bool disconnect();
  /// Starts to close the endpoint. The worker must make progress until closed().
  void close() noexcept;
  [[nodiscard]] bool closed() const noexcept { return endpoint_ == nullptr && closing_ == nullptr; }
  /// Whether UCX can still hold an open endpoint, or requests such as replies to the gets of a dead PE.
  [[nodiscard]] bool unfinished() const noexcept { return (failure_ && !peer_disconnected_) || !closed() || !idle(); }
  /// Finishes a close() that UCX has completed.
  void finish_closing() noexcept;

 private:
  /// Counts an operation. Returns whether the operation can be started.
  [[nodiscard]] bool start();
  [[nodiscard]] ucp_rkey_h rkey_of(std::uint64_t imported, const ucx_memory_key& key);
  /// @param request the value that UCX returned for an operation of this batch
  void started(ucs_status_ptr_t request, ucx_batch& batch);
  [[nodiscard]] ucp_request_param_t reporting_to(ucx_batch& batch) const;
  void release_rkeys() noexcept;

  const int pe_;
  const blob address_;
  const ucx_worker& worker_;
  ucx_completion_queue& completions_;
  ucx_header headers_[3];  ///< one header for each kind; UCX reads the headers until the messages are sent
  ucp_ep_h endpoint_ = nullptr;
  ucs_status_ptr_t closing_ = nullptr;
  ucx_batch* puts_ = nullptr;   ///< puts that are not flushed yet
  int requests_ = 0;            ///< UCX requests in flight
  std::size_t incomplete_ = 0;  ///< the number of operations that are not reported as done
  bool peer_disconnected_ = false;
  bool disconnect_sent_ = false;
  std::optional<std::string> failure_;
  std::optional<time_point> close_by_;         ///< set after a failure: the time at which the timeout expires
  std::map<std::uint64_t, ucp_rkey_h> rkeys_;  ///< remote keys, by the number of the import

  friend struct ucx_callbacks;
};

}  // namespace pgas::detail
