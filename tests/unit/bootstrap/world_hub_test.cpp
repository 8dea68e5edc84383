// The order in which the hub of a world sends a frame to the members.
#include "bootstrap/hub/world_hub.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "common/net/socket.hpp"
#include "common/net/unix_socket.hpp"

namespace pgas::boot {
namespace {

constexpr int n = 4;

session_keys keys_of(int rank) {
  session_keys keys;
  keys.to_send.fill(static_cast<std::byte>(1 + rank));
  keys.to_receive.fill(static_cast<std::byte>(101 + rank));
  return keys;
}

/// A hub whose members share one connection. Each member has its own keys, so the frames show their receivers.
class hub_with_shared_connection {
 public:
  hub_with_shared_connection() {
    auto [ours, hubs] = socket_pair();
    ours_ = std::move(ours);
    for (int rank = 0; rank < n; ++rank) {
      hub_.attach(rank, unique_fd(::fcntl(hubs.get(), F_DUPFD_CLOEXEC, 0)), keys_of(rank));
      ciphers_.emplace_back(keys_of(rank).to_send);
    }
  }

  [[nodiscard]] world_hub& hub() { return hub_; }
  /// The receivers of the next `count` frames, in the order of the frames.
  [[nodiscard]] std::vector<int> receivers(int count) {
    std::vector<int> found;
    for (int i = 0; i < count; ++i) found.push_back(receiver_of(next_frame()));
    return found;
  }

 private:
  [[nodiscard]] blob next_frame() const {
    blob frame(frame_cipher::prefix_bytes);
    std::size_t have = 0;
    EXPECT_EQ(receive_some(ours_.get(), frame, have), receipt::whole);
    frame.resize(frame.size() + frame_cipher::bytes_after(frame));
    EXPECT_EQ(receive_some(ours_.get(), frame, have), receipt::whole);
    return frame;
  }
  [[nodiscard]] int receiver_of(const blob& frame) {
    for (int rank = 0; rank < n; ++rank) {
      blob copy = frame;
      frame_cipher after = ciphers_[static_cast<std::size_t>(rank)];
      if (!after.open(copy)) continue;
      ciphers_[static_cast<std::size_t>(rank)] = after;
      return rank;
    }
    return -1;
  }

  event_loop loop_;
  world_hub hub_{loop_, n};
  unique_fd ours_;
  std::vector<frame_cipher> ciphers_;
};

TEST(world_hub, the_process_that_runs_the_hub_is_the_last_to_hear_of_a_failure) {
  hub_with_shared_connection world;
  EXPECT_EQ(world.receivers(n), (std::vector{0, 1, 2, 3})) << "the frames of the welcome";
  world.hub().fail(code::bootstrap_timeout, 2, "rank 2 did not arrive");
  std::vector<int> order = world.receivers(n);
  EXPECT_EQ(order.back(), 0);
  std::ranges::sort(order);
  EXPECT_EQ(order, (std::vector{0, 1, 2, 3}));
}

}  // namespace
}  // namespace pgas::boot
