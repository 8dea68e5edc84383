// A thread that has the result of a collective may end the process immediately. By then, the other members have the
// result.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <thread>
#include <vector>

#include "host/connect/peer_descriptor.hpp"
#include "host/exchange/exchange_service.hpp"
#include "unit/connect/fixtures.hpp"

namespace pgas::unit_test {
namespace {

using namespace pgas::detail;

arrived_message contribution_of(int pe) {
  arrived_message message;
  message.header = message_of(message_kind::up, pe, 0).header;
  message.header.call = collective::barrier;
  message.header.group = control_group::world;
  return message;
}

// PE 0 completes a barrier of three PEs. The socket to PE 1 does not work, so the reader calls `on_problem` while it
// sends the result to PE 1.
TEST(result_order, a_collective_returns_after_its_result_was_sent) {
  const peer_table peers(std::vector<peer_descriptor>(3), 0);
  event_loop loop;
  log::logger log(log_level::error, "/dev/null");
  std::map<int, peer_socket> sockets;
  std::vector<unique_fd> others;
  for (const int pe : {1, 2}) {
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    sockets.emplace(pe, peer_socket{unique_fd(ends[0]), {}});
    others.emplace_back(ends[1]);
  }
  const unique_fd no_socket(::open("/dev/null", O_RDWR | O_CLOEXEC));
  ASSERT_GE(::dup2(no_socket.get(), sockets.at(1).fd.get()), 0);

  std::optional<exchange_service> exchanges;
  std::atomic<bool> returned{false};
  int problems = 0;
  tree_links links(loop, peers, std::move(sockets), [&](int pe, int) {
    EXPECT_EQ(pe, 1);
    ++problems;
    for (int i = 0; i < 200 && !returned; ++i) {
      exchanges->wake();
      std::this_thread::sleep_for(milliseconds(1));
    }
    EXPECT_FALSE(returned) << "the result of PE 1 is not sent yet";
  });
  world_failure failures(log, {}, error(code::system, "memory"));
  exchanges.emplace(loop, links, peers, failures, quick(), log);
  const std::vector<int> all{0, 1, 2};
  exchanges->begin_group(control_group::world, all);

  std::thread waits([&] {
    static_cast<void>(exchanges->run(control_group::world, collective::barrier, {}, {}, {}));
    returned = true;
  });
  while (exchanges->describe().find("barrier") == std::string::npos) std::this_thread::sleep_for(milliseconds(1));
  exchanges->receive(contribution_of(1));  // PE 2 receives the contributions of the others
  exchanges->receive(contribution_of(2));  // completes the barrier
  waits.join();
  EXPECT_EQ(problems, 1);
}

}  // namespace
}  // namespace pgas::unit_test
