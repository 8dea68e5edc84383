// A PE that tries several addresses of another PE at the same time makes several connections and uses one of them. The
// other connections are no reason for a warning.
#include "common/net/admission.hpp"

#include <gtest/gtest.h>
#include <poll.h>

#include <string>
#include <vector>

#include "common/net/tcp_connector.hpp"
#include "host/connect/peer_descriptor.hpp"
#include "unit/connect/fixtures.hpp"

namespace pgas::unit_test {
namespace {

using namespace pgas::detail;

constexpr hello from_1_to_0{.from = 1, .to = 0};

/// A PE that accepts connections, and the reasons for which it has refused connections.
struct door {
  door() { accepting.listen(listener); }
  [[nodiscard]] tcp_address address() const { return *tcp_address::parse_host("127.0.0.1", listener.port()); }
  /// Accepts the connections that wait.
  void accept() { loop.run_once(clock::now() + std::chrono::seconds(20)); }

  event_loop loop;
  tcp_listener listener = listen_anywhere();
  job_secret secret{};
  std::vector<std::string> refused;
  admission accepting{loop,
                      secret,
                      0,
                      {std::chrono::seconds(20), 64, 64},
                      [](caller) {},
                      [this](const std::string&, const std::string& why) { refused.push_back(why); }};
};

unique_fd connected_to(const tcp_address& to) {
  connect_result begun = begin_connect(to);
  pollfd writable{begun.fd.get(), POLLOUT, 0};
  EXPECT_EQ(::poll(&writable, 1, 20'000), 1);
  EXPECT_EQ(outcome_of_connect(begun.fd.get()), 0);
  return std::move(begun.fd);
}

TEST(admission, a_connection_that_has_introduced_itself_is_not_reported_at_the_end) {
  door of;
  handshake one(connected_to(of.address()), of.secret, from_1_to_0);
  of.accept();
  ASSERT_EQ(one.send_hello(), 0);  // this hello arrives after the last turn of the loop
  of.accepting.refuse_all();
  EXPECT_EQ(of.refused, std::vector<std::string>());
}

TEST(admission, a_connection_without_a_word_is_reported_at_the_end) {
  door of;
  const unique_fd silent = connected_to(of.address());
  of.accept();
  of.accepting.refuse_all();
  EXPECT_EQ(of.refused, std::vector<std::string>{"it has not said who it is"});
}

TEST(admission, an_attempt_that_stops_introduces_itself_before_it_closes) {
  door of;
  tcp_attempt attempt(of.address(), of.secret, from_1_to_0, true);
  attempt.start(std::chrono::seconds(20), std::chrono::seconds(20));
  pollfd made = attempt.awaited();
  ASSERT_EQ(::poll(&made, 1, 20'000), 1);
  attempt.stop();
  of.accept();  // accepts the connection
  of.accept();  // reads the connection's hello, and the end of the connection
  of.accepting.refuse_all();
  EXPECT_EQ(of.refused, std::vector<std::string>());
}

}  // namespace
}  // namespace pgas::unit_test
