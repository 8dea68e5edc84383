/// @file
/// A bootstrap over a connection to a hub. Any thread may call abort() at any time.
#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "bootstrap/hub/hub_protocol.hpp"
#include "common/deadline.hpp"
#include "common/fork_guard.hpp"
#include "common/unique_fd.hpp"
#include "pgas/bootstrap.hpp"

namespace pgas::boot {

using namespace detail;  // namespace of src/common

class hub_client : public bootstrap {
 public:
  /// The process that runs the hub, for messages.
  struct hub_owner {
    std::string name;  ///< "rank 0", "pgasrun"
    int rank;          ///< the rank of the process; -1 if it is not a member of the world
  };

  /// @param socket connected and non-blocking
  /// @param keys the keys that seal messages over the socket; empty if messages are not sealed
  hub_client(unique_fd socket, int rank, int size, milliseconds timeout, hub_owner owner,
             const std::optional<session_keys>& keys = std::nullopt);
  /// Leaves the world.
  ~hub_client() override;

  /// The first collective: waits until all members have arrived. Returns false if the hub closed the connection before
  /// the hub welcomed this member. In that case the world has not begun, and another attempt can succeed.
  [[nodiscard]] bool join(const deadline& limit);

  [[nodiscard]] int rank() const noexcept override { return rank_; }
  [[nodiscard]] int size() const noexcept override { return size_; }
  [[nodiscard]] std::vector<blob> all_gather(std::span<const std::byte> mine) override;
  void barrier() override;
  void set_time_limit(milliseconds limit) override { timeout_ = limit; }
  void abort(std::string_view reason) noexcept override;

 protected:
  /// Leaves the world, and closes the connection.
  void leave() noexcept;

 private:
  [[nodiscard]] std::vector<blob> exchange(collective what, std::span<const std::byte> mine, const deadline& limit);
  /// Ignores a failure to send, because the hub's frames may contain the reason of the failure.
  void send(const shared_frame& frame, const deadline& limit);
  [[noreturn]] void fail(error why);

  const detail::fork_guard process_;
  unique_fd socket_;
  int rank_;
  int size_;
  milliseconds timeout_;
  hub_owner owner_;
  frame_reader<frame_header> incoming_;
  bool welcome_ = false;
  std::uint32_t sequence_ = 0;
  std::optional<frame_cipher> outgoing_;
  std::vector<std::byte> sealed_;
  // made early, because a destructor must not allocate memory
  const shared_frame leave_ = make_frame({.kind = frame_kind::leave});
  std::mutex sending_;            // needed because abort() may be called while another thread is in a collective
  std::optional<error> failure_;  // the failure that broke the world; later calls throw it again
};

}  // namespace pgas::boot
