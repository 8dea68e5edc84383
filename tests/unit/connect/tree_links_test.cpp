// Packets that wait for the socket of a neighbour.
#include "host/connect/tree_links.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <map>
#include <thread>
#include <vector>

#include "host/connect/peer_descriptor.hpp"
#include "unit/connect/fixtures.hpp"

namespace pgas::unit_test {
namespace {

using namespace pgas::detail;

/// PE 0 of three PEs of this host. The test takes the place of its neighbours.
struct leader {
  leader() {
    std::map<int, peer_socket> mine;
    for (const int pe : {1, 2}) {
      int ends[2];
      if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) throw std::runtime_error("socketpair");
      mine.emplace(pe, peer_socket{unique_fd(ends[0]), {}});
      others.emplace(pe, unique_fd(ends[1]));
    }
    links.emplace(loop, peers, std::move(mine), [](int, int) {});
  }
  /// Sends packets to a PE until a packet has to wait for the socket. Returns the number of packets.
  int fill(int pe) {
    int packets = 0;
    for (; links->find(pe)->queue.waiting() == 0; ++packets)
      links->send(message_of(message_kind::heartbeat, 0, pe, blob(1000)));
    return packets;
  }
  /// Reads packets in place of the PE.
  void read(int pe, int packets) {
    std::vector<std::byte> buffer(4096);
    for (int i = 0; i < packets; ++i) EXPECT_GT(::recv(others[pe].get(), buffer.data(), buffer.size(), 0), 0);
  }

  event_loop loop;
  const peer_table peers{std::vector<peer_descriptor>(3), 0};
  std::map<int, unique_fd> others;
  std::optional<tree_links> links;
};

TEST(tree_links, waiting_packets_are_sent_once_the_neighbour_reads) {
  leader of;
  const int packets = of.fill(1);
  std::thread reader([&] { of.read(1, packets); });
  EXPECT_TRUE(of.links->await_sent(deadline(std::chrono::seconds(20))));
  EXPECT_EQ(of.links->find(1)->queue.waiting(), 0u);
  reader.join();
}

TEST(tree_links, the_wait_for_a_neighbour_that_does_not_read_ends) {
  leader of;
  static_cast<void>(of.fill(1));
  EXPECT_FALSE(of.links->await_sent(deadline(milliseconds(20))));
  EXPECT_GT(of.links->find(1)->queue.waiting(), 0u);
}

TEST(tree_links, a_neighbour_that_has_ended_is_not_waited_for) {
  leader of;
  static_cast<void>(of.fill(1));
  static_cast<void>(of.fill(2));
  of.others.erase(1);  // Linux reports the end
  of.links->find(2)->ended = true;
  EXPECT_TRUE(of.links->await_sent(deadline(std::chrono::seconds(20))));
}

}  // namespace
}  // namespace pgas::unit_test
