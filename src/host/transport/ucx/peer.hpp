/// @file
/// The connection to one PE.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "host/transport/ucx/key.hpp"
#include "host/transport/ucx/ledger.hpp"
#include "host/transport/ucx/worker.hpp"

namespace pgas::detail {

/// What goes before each message.
struct ucx_header {
  enum class kind : std::uint32_t {
    data,
    hello,    ///< the sender has connected; whoever gets it connects too, so that each learns of the other's death
    goodbye,  ///< the sender's operations are complete and it will begin no more
  };
  std::uint32_t magic = expected_magic;
  kind what = kind::data;
  std::int32_t pe = 0;  ///< the sender

  static constexpr std::uint32_t expected_magic = 0x7058'5347;
};

/// An endpoint, made when it is first needed, and what is under way on it. Nothing here calls the transport's events:
/// what happens goes to the ledger, and the transport tells of it later.
class ucx_peer {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  ucx_peer(int pe, int me, blob address, const ucx_worker& worker, ucx_ledger& ledger);
  ucx_peer(const ucx_peer&) = delete;
  ucx_peer& operator=(const ucx_peer&) = delete;

  [[nodiscard]] int pe() const noexcept { return pe_; }
  [[nodiscard]] bool connected() const noexcept { return endpoint_ != nullptr; }
  /// Why nothing goes to this PE any more; none as long as it may.
  [[nodiscard]] const std::optional<std::string>& failure() const noexcept { return failure_; }
  void fail(const std::string& why);
  [[nodiscard]] std::string route() const;

  /// Makes the endpoint unless there is one.
  void connect();
  void put(std::uint64_t imported, const ucx_key& key, std::uint64_t offset, const void* local, std::size_t bytes,
           transport_token token);
  void get(std::uint64_t imported, const ucx_key& key, std::uint64_t offset, void* local, std::size_t bytes,
           transport_token token);
  void send(ucx_header::kind what, std::span<const std::byte> message, std::optional<transport_token> token);
  /// Asks UCX to say when the puts so far are complete at the target.
  void flush();
  void forget(std::uint64_t imported) noexcept;

  /// The peer has said goodbye.
  void note_goodbye() noexcept { left_ = true; }
  /// So many operations have been told of as done.
  void settle(std::size_t operations) noexcept { owed_ -= operations; }
  /// Whether a failure is a loss: not where a peer closes the connection after its goodbye and nothing is wanted of it.
  [[nodiscard]] bool is_missed() const noexcept { return failure_ && (!left_ || owed_ > 0); }

  /// Whether UCX has no requests under way for it.
  [[nodiscard]] bool idle() const noexcept { return under_way_ == 0; }
  /// After a failure: closes the endpoint as soon as that is safe. Whether that is through.
  [[nodiscard]] bool close_after_failure() noexcept;
  /// Part of leaving: completes what is under way, then says goodbye. Whether both sides are through.
  [[nodiscard]] bool say_goodbye();
  /// Lets go of the endpoint. The worker has to be driven until closed().
  void close() noexcept;
  [[nodiscard]] bool closed() const noexcept { return endpoint_ == nullptr && closing_ == nullptr; }
  /// Whether UCX may have kept something: its answers to a dead PE's gets, for example, or what could not be closed.
  [[nodiscard]] bool unfinished() const noexcept { return (failure_ && !left_) || !closed() || !idle(); }
  /// Notices that the closing has ended.
  void finish_closing() noexcept;

 private:
  /// Counts an operation in; whether it can be begun.
  [[nodiscard]] bool begin();
  [[nodiscard]] ucp_rkey_h rkey_of(std::uint64_t imported, const ucx_key& key);
  /// What UCX returned for an operation of this batch.
  void started(ucs_status_ptr_t request, ucx_batch& batch);
  [[nodiscard]] ucp_request_param_t reporting_to(ucx_batch& batch) const;
  void release_rkeys() noexcept;

  const int pe_;
  const blob address_;
  const ucx_worker& worker_;
  ucx_ledger& ledger_;
  ucx_header headers_[3];  ///< one for each kind; UCX reads them until the messages are out
  ucp_ep_h endpoint_ = nullptr;
  ucs_status_ptr_t closing_ = nullptr;
  ucx_batch* puts_ = nullptr;  ///< not yet flushed
  int under_way_ = 0;          ///< requests of UCX
  std::size_t owed_ = 0;       ///< operations that have not been told of as done
  bool left_ = false;
  bool said_goodbye_ = false;
  std::optional<std::string> failure_;
  std::optional<time_point> close_by_;         ///< after a failure: the end of the patience
  std::map<std::uint64_t, ucp_rkey_h> rkeys_;  ///< by import

  friend struct ucx_callbacks;
};

}  // namespace pgas::detail
